import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pathFault, publicPathSchema, relativePath } from "../../pipeline/documents/relative-path.ts";
import { rootFolder } from "../../pipeline/system/root-folder.ts";
import { hostilePaths } from "../support/hostile-paths.ts";
import { temporaryFolder } from "../support/run.ts";

describe("a path from outside", () => {
  test.each([
    "index.html",
    "api/v1/package/1/index.json",
    "releases/26.08.001/..hidden",
    "a/...",
    "ü 日本/%2e%2e",
    "x".repeat(1024),
  ])("%j is accepted unchanged", (path) => {
    expect(relativePath(path)).toBe(path);
  });

  test.each(hostilePaths)("is refused if it %s (%#)", (fault, path) => {
    expect(pathFault(path)).toBe(fault);
    expect(() => relativePath(path)).toThrow(/^site-tampered: the path ".*" /);
  });

  test("can be the address of a folder only in a bucket", () => {
    expect(pathFault("api/v1/package/")).toBe("has an empty segment");
    expect(publicPathSchema.safeParse("api/v1/package/").success).toBe(true);
    for (const path of ["/", "../", "a//"])
      expect(publicPathSchema.safeParse(path).success, path).toBe(false);
  });
});

describe("a root folder", () => {
  const outside = temporaryFolder();
  const root = join(temporaryFolder(), "builds/1-x");
  mkdirSync(join(root, "releases"), { recursive: true });
  mkdirSync(join(root, "../../files"));
  writeFileSync(join(outside, "secret"), "secret");
  symlinkSync(outside, join(root, "away"));
  symlinkSync(join(outside, "secret"), join(root, "releases/notes.json"));
  symlinkSync(join(outside, "missing"), join(root, "dangling"));
  symlinkSync("releases", join(root, "latest"));
  symlinkSync("../../files", join(root, "files"));
  symlinkSync("../../files", join(root, "releases/files"));
  const at = (path: string) => rootFolder(root)(relativePath(path));

  test("cannot be left by a link, neither of a folder nor of a file", () => {
    for (const path of ["away/secret", "away", "releases/notes.json", "dangling", "releases/files/x"])
      expect(() => at(path), path).toThrow(
        /^site-tampered: \S+ is a symbolic link that leads out of \S+, or nowhere$/,
      );
  });

  test("accepts links inside of it, and a build's own link to the artifacts", () => {
    for (const path of ["latest/index.html", "files/26.08.001/x.rpm", "releases/new/deep/file", "new"])
      expect(at(path)).toBe(join(root, path));
  });

  test("can be a link itself, and refuses a link that was made after it was opened", () => {
    const link = join(temporaryFolder(), "current");
    symlinkSync(root, link);
    const opened = rootFolder(link);
    expect(opened(relativePath("later/file"))).toBe(join(link, "later/file"));
    symlinkSync(outside, join(root, "later"));
    expect(() => opened(relativePath("later/file"))).toThrow(/site-tampered/);
  });
});
