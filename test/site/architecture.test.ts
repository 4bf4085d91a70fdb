import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { ask, serveFolder } from "../service/origin.ts";
import { artifact, type Project, project, release } from "../support/project.ts";

const deb = (version: string, arch: string, digit: string) =>
  artifact(`tool_${version}_${arch}.deb`, "deb", digit, {
    package: {
      type: "deb",
      arch,
      control: `Package: tool\nVersion: ${version}\nArchitecture: ${arch}\nMaintainer: Example\nDescription: Tool`,
    },
  });

let made: Project;
let url: string;

beforeAll(async () => {
  made = project({
    "releases/catalog.yaml": { product: "Example", require: {} },
    ...release("26.08.001", [deb("26.08.001", "riscv64", "1"), artifact("tool-26.08.001.rpm", "rpm", "2")]),
    ...release("26.09.001", [deb("26.09.001", "amd64", "3"), deb("26.09.001", "arm64", "4")]),
  });
  await made.succeed("cut", "--all", "--now", "2026-09-20T10:00:00Z");
  await made.succeed("build", "--released");
  ({ url } = await serveFolder(join(made.folder, "dist")));
});

const dist = (path: string) => JSON.parse(readFileSync(join(made.folder, "dist", path), "utf8"));
const archOf = ({ file, arch }: { file: string; arch?: string }) => [file, arch];

describe("the architecture of a package is", () => {
  test("in its release document", () => {
    const { artifacts } = dist("api/v1/release/26.09.001/index.json");
    expect(Object.values<{ file: string }>(artifacts).map(archOf)).toEqual([
      ["tool_26.09.001_amd64.deb", "amd64"],
      ["tool_26.09.001_arm64.deb", "arm64"],
    ]);
    const [, rpm] = Object.values<object>(dist("api/v1/release/26.08.001/index.json").artifacts);
    expect(rpm).not.toHaveProperty("arch");
  });

  test("in latest.json and in the list of its type's newest records", () => {
    expect(dist("api/v1/latest.json").packages.map(archOf)).toEqual([
      ["tool_26.09.001_arm64.deb", "arm64"],
      ["tool_26.09.001_amd64.deb", "amd64"],
      ["tool-26.08.001.rpm", undefined],
    ]);
    const newest = dist("api/v1/package/latest/deb.json");
    expect(newest.map(({ arch }: { arch: string }) => arch)).toEqual(["arm64", "amd64"]);
    const { arch: _, ...record } = newest[0];
    expect(dist(`api/v1/package/${record.id}/index.json`)).toEqual(record);
    expect(dist("api/v1/package/latest/rpm.json")[0]).not.toHaveProperty("arch");
  });

  test("not a field of the list", () => {
    for (const record of dist("api/v1/package/index.json")) expect(record).not.toHaveProperty("arch");
  });

  test("on pages", () => {
    const page = (path: string) => readFileSync(join(made.folder, "dist", path), "utf8");
    expect(page("releases/26.09.001/index.html")).toContain("<dt>Architecture</dt><dd><bdi>arm64</bdi></dd>");
    for (const path of ["index.html", "platforms/Debian-and-Ubuntu/index.html"])
      expect(page(path), path).toContain("<bdi>arm64</bdi>");
  });

  test("a column and a filter of relcat list", async () => {
    const { stdout } = await made.succeed("list");
    const cells = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(cells.map((row) => [row[4], row[6]])).toEqual([
      ["ARCH", "FILE"],
      ["arm64", "tool_26.09.001_arm64.deb"],
      ["amd64", "tool_26.09.001_amd64.deb"],
      ["–", "tool-26.08.001.rpm"],
      ["riscv64", "tool_26.08.001_riscv64.deb"],
    ]);
    const files = async (...terms: string[]) =>
      ((await made.json("list", ...terms)).document.details as { file: string; arch: string }[]).map(archOf);
    expect(await files("arch=arm64")).toEqual([["tool_26.09.001_arm64.deb", "arm64"]]);
    expect(await files("arch=riscv64", "version=latest")).toEqual([
      ["tool_26.08.001_riscv64.deb", "riscv64"],
    ]);
    expect(await files("arch=")).toEqual([["tool-26.08.001.rpm", null]]);
    const { exitCode, stderr } = await made.run("list", "arch=arm46");
    expect([exitCode, stderr]).toEqual([
      2,
      'error[usage] arch is "arm46", expected a Debian architecture such as amd64, or all\n  hint: Did you mean arch=arm64?',
    ]);
  });
});

describe("latest/?arch=", () => {
  const latest = async (query: string) => {
    const { status, headers, text } = await ask(url, `/api/v1/package/latest/?${query}`);
    return { status, file: headers.location?.split("/").at(-1), text };
  };

  test("leads to the newest file for that architecture", async () => {
    const files = ["amd64", "arm64", "riscv64"].map((arch) => latest(`package_type=deb&arch=${arch}`));
    expect((await Promise.all(files)).map(({ status, file }) => [status, file])).toEqual([
      [302, "tool_26.09.001_amd64.deb"],
      [302, "tool_26.09.001_arm64.deb"],
      [302, "tool_26.08.001_riscv64.deb"],
    ]);
    expect((await latest("package_type=rpm&arch=")).file).toBe("tool-26.08.001.rpm");
    expect((await latest("package_type=deb&arch=s390x")).status).toBe(404);
    expect((await latest("version=26.08.001&package_type=deb&arch=amd64")).status).toBe(404);
  });

  test("is named if files differ in it", async () => {
    const { status, text } = await latest("package_type=deb");
    expect([status, JSON.parse(text)]).toEqual([
      400,
      {
        detail: "2 packages match; tell them apart by one of: id, name, arch.",
        parameters: ["id", "name", "arch"],
        candidates: [
          { id: 3, version: "26.09.001", name: "tool_26.09.001_amd64.deb", arch: "amd64" },
          { id: 4, version: "26.09.001", name: "tool_26.09.001_arm64.deb", arch: "arm64" },
        ],
      },
    ]);
  });

  test("does not filter the list", async () => {
    const { headers, text } = await ask(url, "/api/v1/package/?arch=arm64");
    expect([headers["x-ignored-parameters"], JSON.parse(text)]).toEqual([
      "arch",
      dist("api/v1/package/index.json"),
    ]);
  });
});
