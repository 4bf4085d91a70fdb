import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startOrigin } from "../../../../service/catalog/node.ts";
import { temporaryFolder } from "../../../support/run.ts";
import type { Home } from "../run-contract.ts";

/** A copy with the layout of a site's folder, in which each build has a link to the site's artifacts. */
function asPublished(built: string): string {
  const site = temporaryFolder();
  const build = join(site, "builds/one");
  cpSync(built, build, { recursive: true, preserveTimestamps: true });
  renameSync(join(build, "files"), join(site, "files"));
  symlinkSync("../../files", join(build, "files"));
  symlinkSync("builds/one", join(site, "current"));
  const bytes = readFileSync(join(build, "build.json"));
  const index = {
    schema_version: 1,
    build: createHash("sha256").update(bytes).digest("hex"),
    files: {},
    leaving: {},
  };
  mkdirSync(join(site, "state"));
  writeFileSync(join(site, "state/one.json"), JSON.stringify(index));
  return join(site, "current");
}

/** `relcat serve`. */
export const origin: Home = {
  name: "relcat serve",
  exceptions: [
    {
      part: "encodings",
      exchanges: ["a filtered list"],
      reason: "a filtered list is sent uncompressed",
      instead: { status: 200, headers: { "content-encoding": null } },
    },
    {
      part: "artifacts",
      exchanges: ["a document in a folder of its own"],
      reason: "only in a published folder, below `files/`",
      instead: { status: 404 },
    },
  ],
  async start({ folder: built }) {
    const folder = asPublished(built);
    const server = await startOrigin({
      folder,
      host: "127.0.0.1",
      port: 0,
      clock: () => performance.now(),
      log: () => {},
    });
    return { origin: new URL(server.url).origin, stop: () => server.close() };
  },
};
