/** @module-tag long */
import { expect, test } from "vitest";
import { parse } from "yaml";
import { feedKey } from "../support/feed-keys.ts";
import { signedFeeds } from "../support/signed-feeds.ts";

const key = { key: await feedKey(), state: "signing" as const };
const apt = { suites: { jammy: "22.04" } };

async function signedWith(changes: object, ...time: string[]) {
  const made = await signedFeeds([key], { ...changes });
  await made.succeed("build", "--released");
  await made.succeed("sign", ...time);
  return made;
}

/** Days until each kind of signature in dist/ expires. */
function expiries({ read }: Awaited<ReturnType<typeof signedFeeds>>) {
  const days = (date = "") => Math.round((Date.parse(date) - Date.now()) / 86_400_000);
  const signed = (file: string) => JSON.parse(read(`dist/metadata/${file}`)).signed;
  const timestamp = signed("timestamp.json");
  return {
    timestamp: days(timestamp.expires),
    snapshot: days(signed(`${timestamp.meta["snapshot.json"].version}.snapshot.json`).expires),
    apt: days(/^Valid-Until: (.*)$/m.exec(read("dist/dists/jammy/Release"))?.[1]),
  };
}

test.each([
  ["simple", apt, { timestamp: 30, snapshot: 30, apt: 30 }],
  ["full", apt, { timestamp: 7, snapshot: 14, apt: 14 }],
  ["{ profile: simple, valid_days: 7 }", apt, { timestamp: 7, snapshot: 14, apt: 14 }],
  ["simple", { ...apt, valid_days: 5 }, { timestamp: 30, snapshot: 30, apt: 5 }],
])(
  "trust: %s, with apt: %j, signs for the days that docs/signing.md names",
  async (trust, suite, expected) => {
    expect(expiries(await signedWith({ trust: parse(trust), feeds: { apt: suite } }))).toEqual(expected);
  },
);

test("another lifetime takes effect when the same build is signed again, and then nothing changes", async () => {
  const made = await signedWith({ trust: { profile: "simple", valid_days: 7 } });
  const catalog = JSON.parse(made.read("releases/catalog.yaml"));
  for (const [trust, expected] of [
    ["simple", { timestamp: 30, snapshot: 30, apt: 30 }],
    [
      { profile: "simple", valid_days: 3 },
      { timestamp: 3, snapshot: 14, apt: 14 },
    ],
  ] as const) {
    made.write("releases/catalog.yaml", { ...catalog, trust });
    await made.succeed("sign");
    expect(expiries(made)).toEqual(expected);
    expect(await made.succeed("sign")).toContain("0 files written");
  }
});

test("a snapshot from the future is replaced, although the new lifetime is longer", async () => {
  const now = new Date();
  const at = (days: number) => ["--now", new Date(now.getTime() + days * 86_400_000).toISOString()];
  const made = await signedWith({ trust: { profile: "simple", valid_days: 7 } }, ...at(5));
  const catalog = JSON.parse(made.read("releases/catalog.yaml"));
  made.write("releases/catalog.yaml", { ...catalog, trust: "simple" });
  await made.succeed("sign", ...at(0));
  const { meta } = JSON.parse(made.read("dist/metadata/timestamp.json")).signed;
  const snapshot = JSON.parse(made.read(`dist/metadata/${meta["snapshot.json"].version}.snapshot.json`));
  expect(Date.parse(snapshot.signed["x-relcat-signed"])).toBeLessThanOrEqual(now.getTime());
});
