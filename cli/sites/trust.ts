import {
  beginSiteTrust,
  describeTrust,
  exitStatus,
  loadConfiguration,
  type RotatedRole,
  rotateKey,
  signTrust,
  type TrustDelivery,
} from "../../pipeline/index.ts";
import { answer, type Host, say, sayCommand, sayNext } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";
import { count, listed, shellWord } from "../terminal/words.ts";

interface Dated {
  now?: string;
}

/** `relcat trust init`: creates the keys and explains the consequences of losing each. */
export async function initTrust(
  keys: string,
  { profile, now }: Dated & { profile: "simple" | "full" },
  host: Host,
): Promise<number> {
  const done = await beginSiteTrust(host.releases, { keys, profile }, timeOf(now, host));
  answer(host, { ...done }, () => `Made ${listed(done.keys)}.`);
  say(
    host,
    "root       signs who may sign. Keep it offline, and a copy elsewhere: if it is lost, clients that trust it can never accept another root.",
  );
  say(
    host,
    "targets    names the online key, once a year. Keep it offline: lost or stolen, root replaces it.",
  );
  say(host, "online     signs each release, in CI: lost or stolen, root and targets replace it.");
  say(
    host,
    `Put online.pem where releases are signed (RELCAT_ONLINE_KEY, as PEM), then move ${shellWord(keys)} to a safe place.`,
  );
  const online = done.keys.find((file) => file.endsWith("online.pem")) ?? "";
  sayNext(
    host,
    `add "trust: ${profile}" to ${host.releases}/catalog.yaml, commit ${host.releases}/, ${await exported(online, host)}then ${signing}`,
  );
  return exitStatus.done;
}

/** `relcat trust rotate`: replaces a role's key. */
export async function rotate(
  role: RotatedRole,
  { keys, replace: replaced, now }: Dated & { keys: string; replace?: string },
  host: Host,
): Promise<number> {
  const done = await rotateKey(host.releases, { role, keys, replaced }, timeOf(now, host));
  answer(host, { ...done }, () => `Made ${listed(done.keys)}; wrote ${listed(done.written)}.`);
  if (role === "online")
    say(host, "Put the new key where releases are signed; the old one signs nothing any more.");
  const [key = ""] = done.keys;
  sayWaiting(done, host, role === "online" ? await exported(key, host) : "");
  return exitStatus.done;
}

const signing = "relcat build --released and relcat sign";

/**
 * Shell text that exports the online key under the name that `sign` reads; "" if catalog.yaml names a file or
 * a program instead.
 */
async function exported(key: string, { releases }: Host): Promise<string> {
  const { online } = (await loadConfiguration(releases, undefined)).trust;
  return "env" in online ? `export ${online.env}="$(cat ${shellWord(key)})", ` : "";
}

/** `relcat trust sign`: signs with the available keys. */
export async function signOffline({ keys, now }: Dated & { keys: string }, host: Host): Promise<number> {
  const done = await signTrust(host.releases, { keys }, timeOf(now, host));
  answer(host, { ...done }, () =>
    done.written.length > 0
      ? `Signed ${listed(done.written)}.`
      : "Nothing waits for a signature, and nothing ends soon.",
  );
  sayWaiting(done, host);
  return exitStatus.done;
}

function sayWaiting({ written, missing }: TrustDelivery, host: Host, before = ""): void {
  if (missing.root > 0) {
    say(
      host,
      `${count(missing.root, "root key")} more must sign: hand ${host.releases}/trust/root.pending.json on.`,
    );
    sayNext(host, "relcat trust sign --keys KEYS, by anyone who has one of them");
  } else if (missing.targets) {
    sayNext(host, "relcat trust sign --keys KEYS, by the holder of the targets key");
  } else if (written.length > 0) sayNext(host, `commit ${host.releases}/trust, ${before}then ${signing}`);
}

export async function listTrust(host: Host): Promise<number> {
  const { roles, pending } = describeTrust(host.releases);
  const days = (expires: string) => Math.floor((Date.parse(expires) - host.clock) / 86_400_000);
  const rows = roles.map((role) => ({ ...role, days_left: days(role.expires) }));
  answer(host, { roles: rows, pending }, () =>
    rows
      .map(({ role, version, threshold, keys, expires, days_left }) => {
        const need = keys.length > 1 ? `${threshold} of ${keys.length}` : "";
        const ids = keys.map((id) => id.slice(0, 16)).join(" ");
        return `${role.padEnd(10)} version ${version}, until ${expires.slice(0, 10)} (${count(days_left, "day")})  ${need} ${ids}`;
      })
      .join("\n"),
  );
  if (pending !== undefined)
    sayCommand(host, `root.pending.json, version ${pending}, waits for signatures: relcat trust sign`);
  return exitStatus.done;
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Signing time; any time is allowed, because expiry is counted from it. @param now the value of --now */
export function timeOf(now: string | undefined, host: Host): number {
  if (now === undefined) return host.clock;
  const time = moment.test(now) ? Date.parse(now) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new UsageError(
    `--now is ${JSON.stringify(now)}, expected a time in UTC`,
    "Such as 2026-09-14T08:00:00Z",
  );
}
