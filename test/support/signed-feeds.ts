import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { placeArtifacts } from "../publish/support.ts";
import { onlineKey } from "../trust/support.ts";
import { feedSecrets, type ListedKey, writeFeedKeys } from "./feed-keys.ts";
import { firstCut, project, smallCatalog } from "./project.ts";
import { relcat, temporaryFolder } from "./run.ts";

const usualUrl = "https://downloads.example.com";

/**
 * A project with a cut catalog, an apt and a yum repository, and keys for everything.
 * @param changes sections of catalog.yaml
 */
export async function signedFeeds(
  keys: readonly ListedKey[],
  changes: { base_url?: string; [section: string]: unknown } = {},
) {
  const baseUrl = changes.base_url ?? usualUrl;
  const made = project(smallCatalog);
  const { folder } = made;
  await made.succeed("cut", "--all", "--now", firstCut);
  const keysFolder = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keysFolder);
  made.write("releases/catalog.yaml", {
    product: "Acme",
    require: {},
    base_url: baseUrl,
    trust: "simple",
    feeds: { apt: { suites: { jammy: "22.04" } }, yum: {} },
    sites: { prod: { url: "dir:www" }, staging: { url: "dir:staging", settles: false } },
    ...changes,
  });
  writeFeedKeys(folder, keys);
  const env = { ...onlineKey(keysFolder), ...feedSecrets(...keys.map(({ key }) => key)) };
  const run = (...args: string[]) => relcat(folder, args, { env });
  const succeed = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await run(...args);
    expect(exitCode, `relcat ${args.join(" ")}\n${stderr}`).toBe(0);
    return stdout + stderr;
  };
  return {
    ...made,
    run,
    succeed,
    env,
    dist: join(folder, "dist"),
    www: join(folder, "www"),
    read: (path: string) => readFileSync(join(folder, path), "utf8"),
    live: (path: string) => readFileSync(join(folder, "www/current", path), "utf8"),
    artifacts: () => placeArtifacts(join(folder, "dist"), join(folder, "www"), baseUrl),
  };
}
