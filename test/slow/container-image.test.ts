import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { unpackPackages } from "../support/debian-packages.ts";
import { program, relcat, repository, sampleWithoutFeeds, temporaryFolder } from "../support/run.ts";

const base = temporaryFolder();

/** Libraries from packages of Debian, Node from npm, and relcat with the libraries that it does not bundle. */
async function writeRoot(root: string): Promise<void> {
  await unpackPackages(["libstdc++6", "libatomic1"], root);
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  cpSync(join(repository, "node_modules/node/bin/node"), join(root, "usr/bin/node"));
  const [from, to] = [dirname(dirname(program)), join(root, "opt/relcat")];
  for (const name of ["cli", "build", "templates", "schemas", "package.json"])
    cpSync(join(from, name), join(to, name), { recursive: true, dereference: true });
  const listed = await execa("npm", ["ls", "--omit=dev", "--all", "--parseable"], {
    cwd: repository,
    reject: false,
  });
  for (const path of listed.stdout.split("\n").slice(1))
    cpSync(path, join(to, path.slice(repository.length + 1)), { recursive: true });
}

/** Buildah with its storage below the test's folder; vfs and chroot need no kernel features. */
const buildah = (command: string, ...args: string[]) =>
  execa("buildah", [
    ...["--root", join(base, "store"), "--runroot", join(base, "run"), "--storage-driver", "vfs"],
    command,
    ...args,
  ]);

test("relcat in an image from scratch builds the same site as outside", async () => {
  await writeRoot(join(base, "root"));
  const containerfile = join(repository, "docs/containers/scratch.Containerfile");
  const how = ["--isolation", "chroot", "--quiet", "--layers=false"];
  await buildah("build", ...how, "--tag", "relcat", "--file", containerfile, base);
  // The image has a copy, and a container is another one.
  rmSync(join(base, "root"), { recursive: true });
  const { stdout: container } = await buildah("from", "relcat");
  const { stdout: inspected } = await buildah("inspect", "--type", "image", "relcat");
  const entry: string[] = JSON.parse(inspected).OCIv1.config.Entrypoint;

  const project = sampleWithoutFeeds();
  const mounted = ["--isolation", "chroot", "--volume", `${project}:/work`, container, "--"];
  const { stdout } = await buildah("run", ...mounted, ...entry, "build", "--out", "inside");
  expect(stdout).toContain("Built 6 releases");
  expect((await relcat(project, ["build", "--out", "outside"])).exitCode).toBe(0);
  const { stdout: difference } = await execa("diff", ["-r", "inside", "outside"], {
    cwd: project,
    reject: false,
  });
  expect(difference).toBe("");
  await buildah("rm", "--all");
  await buildah("rmi", "--all", "--force");
});
