import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { afterFile } from "../support/after-file.ts";
import { type AptClient, aptClient } from "../support/apt-client.ts";
import { aptSite } from "../support/apt-site.ts";
import { buildDeb } from "../support/debs.ts";
import { type FeedSite, feedSite } from "../support/feed-site.ts";
import { freePort } from "../support/port.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { repository, temporaryFolder } from "../support/run.ts";
import { dnfClient } from "../support/yum-clients.ts";

/** A signed site with two channels: 26.08.001 is in stable, 26.09.001 in beta. */
let site: FeedSite;

const channel = (...words: string[]) => site.project.succeed("channel", ...words, "--yes");
const publish = () => site.publish("openpgp.asc");

beforeAll(async () => {
  const channels = { stable: {}, beta: {} };
  site = await feedSite({ trust: "simple", feeds: { apt: {}, yum: {} }, channels });
  for (const [version, number] of [
    ["26.08.001", "1.0"],
    ["26.09.001", "2.0"],
  ] as const) {
    const folder = join(temporaryFolder(), number);
    mkdirSync(folder);
    const deb = await buildDeb(folder, { name: "agent", version: number, arch: "all" });
    const spec = { name: "agent", version: number, arch: "noarch", files: { "/usr/bin/agent": number } };
    await site.release(version, [deb, await buildRpm(folder, spec)]);
  }
  await channel("promote", "26.09.001", "beta");
  await publish();
}, 120_000);

const preferences = (client: AptClient) => join(client.root, "etc/apt/preferences.d/acme");

test("apt and dnf switch from stable to beta and back, and follow a promotion and a halt", async () => {
  const [apt, dnf] = [aptClient(), dnfClient()];
  const stable = [await site.text("acme-stable.sources"), await site.text("acme-stable.repo")] as const;
  const beta = [await site.text("acme-beta.sources"), await site.text("acme-beta.repo")] as const;
  const use = (channels: readonly (readonly [string, string])[]) => {
    apt.use(channels.map(([sources]) => sources).join("\n\n"));
    dnf.use(channels.map(([, repo]) => repo).join("\n"));
  };
  const update = async () => {
    await apt.get("update");
    await dnf.succeed(...dnf.refresh);
  };
  const installed = async () => [await apt.installed("agent"), ...(await dnf.installed())];

  use([stable]);
  await update();
  await apt.get("install", "agent");
  await dnf.succeed("install", "agent");
  expect(await installed()).toEqual(["1.0", "agent-1.0.noarch"]);

  // A repository with a low priority is known, and only asked for.
  use([stable, beta]);
  writeFileSync(preferences(apt), "Package: *\nPin: release n=beta\nPin-Priority: 100\n");
  await update();
  await apt.get("upgrade");
  expect(await apt.installed("agent")).toBe("1.0");
  await apt.get("install", "-t", "beta", "agent");
  await dnf.succeed("upgrade", "agent");
  expect(await installed()).toEqual(["2.0", "agent-2.0.noarch"]);

  // Back to stable, with the lines that the guide has.
  rmSync(preferences(apt));
  use([stable]);
  await update();
  await apt.get("upgrade");
  await dnf.succeed("upgrade");
  expect(await installed()).toEqual(["2.0", "agent-2.0.noarch"]);
  await apt.get("install", "--allow-downgrades", "agent/stable");
  await dnf.succeed("distro-sync", "agent");
  expect(await installed()).toEqual(["1.0", "agent-1.0.noarch"]);

  await channel("promote", "26.09.001", "stable");
  await publish();
  await update();
  await apt.get("upgrade");
  await dnf.succeed("upgrade");
  expect(await installed()).toEqual(["2.0", "agent-2.0.noarch"]);

  // A machine keeps the halted release until it asks for the one that is offered; a new one never gets it.
  await channel("halt", "stable", "26.09.001", "--reason", "Loses settings.");
  await publish();
  await update();
  await apt.get("upgrade");
  await dnf.succeed("upgrade");
  expect(await installed()).toEqual(["2.0", "agent-2.0.noarch"]);
  await apt.get("install", "--allow-downgrades", "agent/stable");
  await dnf.succeed("distro-sync", "agent");
  expect(await installed()).toEqual(["1.0", "agent-1.0.noarch"]);
  const [newApt, newDnf] = [aptClient(), dnfClient()];
  newApt.use(stable[0]);
  newDnf.use(stable[1]);
  await newApt.get("update");
  await newApt.get("install", "agent");
  await newDnf.succeed("install", "agent");
  expect([await newApt.installed("agent"), ...(await newDnf.installed())]).toEqual([
    "1.0",
    "agent-1.0.noarch",
  ]);
});

/** nginx as a cache in front of a site, by the headers of the site, with a clock that tests move. */
async function cacheBefore(origin: string) {
  const [home, port] = [temporaryFolder(), await freePort()];
  const [config, clock] = [join(home, "nginx.conf"), join(home, "clock")];
  const faked = { FAKETIME_TIMESTAMP_FILE: clock, FAKETIME_NO_CACHE: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1" };
  const [library = ""] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
  writeFileSync(
    config,
    `${[...Object.keys(faked), "LD_PRELOAD"].map((name) => `env ${name};`).join(" ")}
user root; pid ${home}/nginx.pid; error_log ${home}/error.log; events {}
http {
  access_log off;
  proxy_cache_path ${home}/cache keys_zone=site:1m;
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${origin}; proxy_cache site; add_header X-Cache $upstream_cache_status; }
  }
}
`,
  );
  const later = (seconds: number) => writeFileSync(clock, `+${seconds}`);
  later(0);
  await execa("nginx", ["-p", home, "-c", config], { env: { ...faked, LD_PRELOAD: library } });
  afterFile(() => void process.kill(Number(readFileSync(join(home, "nginx.pid"), "utf8")), "SIGQUIT"));
  return {
    later,
    async get(path: string) {
      const answer = await fetch(`http://127.0.0.1:${port}/acme/${path}`);
      return { cache: answer.headers.get("x-cache"), text: await answer.text() };
    },
  };
}

test("a cache offers a halted release no longer than the runbook says", async () => {
  const settings = { feeds: { apt: {} }, channels: { stable: {}, beta: {} } };
  const cached = await aptSite(["www"], settings);
  for (const [version, number] of [
    ["26.08.001", "1.0"],
    ["26.09.001", "2.0"],
  ] as const)
    await cached.release(version, [{ name: "agent", version: number, arch: "all" }]);
  await cached.run("cut", "--all");
  await cached.publish("www");
  const cache = await cacheBefore(new URL(cached.url).origin);
  const newest = async () => {
    const [latest, channel, index] = await Promise.all(
      ["api/v1/latest.txt", "api/v1/channel/stable.json", "dists/stable/main/binary-amd64/Packages"].map(
        cache.get,
      ),
    );
    return {
      caches: [latest, channel, index].map((answer) => answer?.cache),
      latest: latest?.text.trim(),
      channel: JSON.parse(channel?.text ?? "{}").version,
      isInIndex: index?.text.includes("Version: 2.0"),
    };
  };
  const before = { latest: "26.09.001", channel: "26.09.001", isInIndex: true };
  expect(await newest()).toEqual({ caches: ["MISS", "MISS", "MISS"], ...before });
  await cached.run("channel", "halt", "stable", "26.09.001", "--reason", "Loses settings.", "--yes");
  await cached.publish("www");
  expect(await newest()).toEqual({ caches: ["HIT", "HIT", "HIT"], ...before });
  const runbook = readFileSync(join(repository, "docs/runbooks/halt-a-release.md"), "utf8");
  const [follows = 0, stale = 0] = [
    /headers of the site \| (\d+)/,
    /`stale-while-revalidate`\) \| (\d+)/,
  ].map((row) => Number(row.exec(runbook)?.[1]));
  cache.later(follows + 1);
  expect(await newest()).toEqual({
    caches: ["EXPIRED", "EXPIRED", "EXPIRED"],
    ...{ latest: "26.08.001", channel: "26.08.001", isInIndex: false },
  });
  const { headers } = await fetch(`${cached.url}/api/v1/latest.txt`);
  const [, age, extra] =
    /max-age=(\d+), stale-while-revalidate=(\d+)/.exec(headers.get("cache-control") ?? "") ?? [];
  expect([Number(age), Number(age) + Number(extra)]).toEqual([follows, stale]);
});
