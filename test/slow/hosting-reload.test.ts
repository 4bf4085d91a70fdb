import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localWeb } from "../docs/local-web.ts";
import { startNginx } from "../site/hosting/homes/nginx.ts";
import { afterFile } from "../support/after-file.ts";
import { pathOf } from "../support/artifacts.ts";
import { freePort } from "../support/port.ts";
import { project } from "../support/project.ts";
import { spawnRelcat, temporaryFolder } from "../support/run.ts";

test("verify distinguishes a server that was not reloaded from wrong bytes, and accepts it after the reload", async () => {
  const [port, home] = [await freePort(), temporaryFolder()];
  const config = {
    product: "Acme",
    require: {},
    base_url: "https://downloads.example.com",
    hosts: ["nginx"],
    trust: "simple",
    feeds: { helm: {} },
    sites: { prod: { url: "dir:www" } },
  };
  const made = project({
    "releases/catalog.yaml": config,
    "releases/26.08.001/release.yaml": { version: "26.08.001", date: "2026-08-19" },
  });
  const keys = join(home, "keys");
  await made.succeed("trust", "init", keys);
  const web = await localWeb({ "downloads.example.com": `http://127.0.0.1:${port}` });
  const env = { ...web, RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") };
  const at = (...args: string[]) => spawnRelcat(made.folder, args, { env });
  cpSync(pathOf("helm/acme-1.2.3.tgz"), join(made.folder, "acme-1.2.3.tgz"));
  await made.succeed("ingest", "--release", "26.08.001", "acme-1.2.3.tgz");
  await made.succeed("upload", "--site", "prod", "--release", "26.08.001", "acme-1.2.3.tgz");
  const release = (...args: string[]) => at("release", "prod", "--yes", ...args);
  expect((await release("--verify-at", "www/current")).exitCode).toBe(0);

  const www = join(made.folder, "www");
  const nginx = await startNginx(join(www, "current"), join(www, "hosting"), port);
  afterFile(nginx.stop);
  expect(await at("verify", "prod")).toMatchObject({ exitCode: 0, stderr: "" });

  // The types of a registry's manifests are in the configuration of the new build alone.
  made.write("releases/catalog.yaml", { ...config, feeds: { helm: { oci: true } } });
  const { exitCode, stdout, stderr } = await release();
  expect({ exitCode, stdout, stderr }).toEqual({
    exitCode: 8,
    stdout: expect.stringMatching(
      /^prod is what was signed, but its web server sends wrong headers: \d+ findings?\.$/m,
    ),
    stderr: expect.stringMatching(
      /^The build [0-9a-f]{12} is live at prod, but its verification failed:\n {2}v2\/\S+ has the Content-Type "[^"]+"\n/m,
    ),
  });
  expect(stderr).toContain("  hint: Reload the web server, so that it uses the configuration of this build");
  expect(JSON.parse((await at("verify", "prod", "--json")).stdout)).toMatchObject({
    verdict: "misconfigured",
  });

  await nginx.reload();
  // nginx answers with its old processes for a moment.
  await expect.poll(async () => (await at("verify", "prod")).exitCode).toBe(0);
});
