import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSignature } from "openpgp";
import { expect } from "vitest";
import { verifySite } from "../../pipeline/index.ts";
import { temporaryFolder } from "../support/run.ts";
import { inTime } from "../trust/support.ts";

/**
 * Fails unless clients with a right clock accept a site with package feeds.
 * @param place the folder of the site
 * @param project has the root from which clients start
 * @param state of earlier visits
 */
export async function clientsAccept(
  place: string,
  project: string,
  now = Date.now(),
  state = temporaryFolder(),
): Promise<void> {
  const read = (path: string) => readFileSync(join(place, path), "utf8");
  const root = readFileSync(join(project, "releases/trust/1.root.json"));
  const { verdict, findings } = await inTime(now, () => verifySite({ place, root, state, now }));
  const what = new Date(now).toISOString();
  expect([what, verdict, findings]).toEqual([what, "ok", []]);
  // apt refuses a date that is more than ten seconds ahead.
  const text = read("dists/jammy/InRelease");
  const dateOf = (field: string) => Date.parse(new RegExp(`^${field}: (.*)$`, "m").exec(text)?.[1] ?? "");
  expect([what, dateOf("Date") <= now, dateOf("Valid-Until") > now]).toEqual([what, true, true]);
  const armoredSignature = read("yum/stable/repodata/repomd.xml.asc");
  const { packets } = await readSignature({ armoredSignature });
  for (const { created } of packets) expect(Number(created)).toBeLessThanOrEqual(now);
}
