import {
  beginPackslipKey,
  beginSiteTrust,
  describeTrust,
  feedKeyEnds,
  loadSettings,
  pinnedPackslipKey,
  type RotatedRole,
  rotateKey,
  signTrust,
  type TrustDelivery,
} from "../../pipeline/index.ts";
import { answer, type Host, say, sayCommand, sayNext } from "../terminal/host.ts";
import { timeOf } from "../terminal/option-values.ts";
import { UsageError } from "../terminal/usage.ts";
import { count, listed, shellWord } from "../terminal/words.ts";
import { describeFeedKey, exported, signing } from "./trust-openpgp.ts";

interface Dated {
  now?: string;
}

export async function initTrust(
  folder: string | undefined,
  { profile, now }: Dated & { profile: "simple" | "full" },
  host: Host,
): Promise<void> {
  const keys = requireFolder(folder, "relcat trust init ~/relcat-keys");
  const done = await beginSiteTrust(host.releases, { keys, profile }, timeOf(now, host));
  answer<"trust-init">(host, { ...done }, () => `Created ${listed(done.keys)}.`);
  say(
    host,
    profile === "full"
      ? "root       signs who may sign, with two of its three keys. Give each to another person: if two are lost, clients that trust them can never accept another root."
      : "root       signs who may sign. Keep it offline, and a copy elsewhere: if it is lost, clients that trust it can never accept another root.",
  );
  say(
    host,
    "targets    names the online key, once a year. Keep it offline: if it is lost or stolen, root replaces it.",
  );
  say(host, "online     signs each release, in CI: if it is lost or stolen, root and targets replace it.");
  say(
    host,
    `Put online.pem where releases are signed (RELCAT_ONLINE_KEY, as PEM), then move ${shellWord(keys)} to a safe place.`,
  );
  const online = done.keys.find((file) => file.endsWith("online.pem")) ?? "";
  const { trust } = await loadSettings(host.releases, undefined);
  const add = trust.profile === profile ? "" : `add "trust: ${profile}" to ${host.releases}/catalog.yaml, `;
  sayNext(host, `${add}commit ${host.releases}/, ${exported(online, trust.online)}then ${signing}`);
}

export async function initPackslip(folder: string | undefined, host: Host): Promise<void> {
  const keys = requireFolder(folder, "relcat trust init ~/relcat-keys --packslip");
  const done = await beginPackslipKey(host.releases, keys);
  answer<"trust-packslip">(
    host,
    { ...done },
    () => `Created ${listed(done.keys)}; wrote ${listed(done.written)}. Users pin ${done.public}.`,
  );
  const { trust } = await loadSettings(host.releases, undefined);
  say(
    host,
    "packslip   signs statements of releases, in CI. It is not the online key. If it is lost, users must pin another one.",
  );
  sayNext(host, `commit ${host.releases}/trust, ${exported(done.keys[0], trust.packslip)}then ${signing}`);
}

function requireFolder(keys: string | undefined, example: string): string {
  if (keys !== undefined) return keys;
  throw new UsageError("the folder of the private keys is missing", `Name it: ${example}`);
}

export async function rotate(
  role: RotatedRole,
  { keys: folder, replace: replaced, now }: Dated & { keys: string | undefined; replace?: string },
  host: Host,
): Promise<void> {
  const keys = requireFolder(folder, `relcat trust rotate ${role} --keys KEYS`);
  const done = await rotateKey(host.releases, { role, keys, replaced }, timeOf(now, host));
  answer<"trust-rotate">(
    host,
    { ...done },
    () => `Created ${listed(done.keys)}; wrote ${listed(done.written)}.`,
  );
  if (role !== "online") return sayWaiting(done, host);
  say(
    host,
    isWaiting(done)
      ? "The old key signs until the change is complete. Then put the new key where releases are signed."
      : "Put the new key where releases are signed; the old one no longer signs anything.",
  );
  const { trust } = await loadSettings(host.releases, undefined);
  sayWaiting(done, host, exported(done.keys[0], trust.online));
}

export async function signOffline({ keys, now }: Dated & { keys: string }, host: Host): Promise<void> {
  const done = await signTrust(host.releases, { keys }, timeOf(now, host));
  answer<"trust-sign">(host, { ...done }, () =>
    done.written.length > 0
      ? `Wrote ${listed(done.written)}.`
      : isWaiting(done)
        ? `No key in ${keys} signs anything new.`
        : "Nothing waits for a signature, and nothing expires soon.",
  );
  sayWaiting(done, host);
}

const isWaiting = ({ missing }: TrustDelivery): boolean => missing.root > 0 || missing.targets;

function sayWaiting({ written, missing }: TrustDelivery, host: Host, before = ""): void {
  if (missing.root > 0) {
    say(
      host,
      `${count(missing.root, "root key")} more must sign: hand ${host.releases}/trust/root.pending.json to their holders.`,
    );
    sayNext(host, "relcat trust sign --keys KEYS, by anyone who has one of them");
  } else if (missing.targets) {
    sayNext(host, "relcat trust sign --keys KEYS, by the holder of the targets key");
  } else if (written.length > 0) sayNext(host, `commit ${host.releases}/trust, ${before}then ${signing}`);
}

export async function listTrust(host: Host): Promise<void> {
  const { roles, pending } = describeTrust(host.releases);
  const days = (expires: string) => Math.floor((Date.parse(expires) - host.clock) / 86_400_000);
  const rows = roles.map((role) => ({ ...role, days_left: days(role.expires) }));
  const feedKeys = await feedKeyEnds((await loadSettings(host.releases, undefined)).feedKeys);
  const packslip = pinnedPackslipKey(host.releases);
  answer<"trust-list">(host, { roles: rows, pending, openpgp: feedKeys, packslip }, () =>
    [
      ...rows.map(({ role, version, threshold, keys, expires, days_left }) => {
        const need = keys.length > 1 ? `${threshold} of ${keys.length}` : "";
        const ids = keys.map((id) => id.slice(0, 16)).join(" ");
        return `${role.padEnd(10)} version ${version}, until ${expires.slice(0, 10)} (${days_left < 0 ? "expired" : count(days_left, "day")})  ${need} ${ids}`;
      }),
      ...feedKeys.map((key) => describeFeedKey(key, host)),
      ...(packslip ? [`${"packslip".padEnd(10)} users pin ${packslip.public}  ${packslip.key_id}`] : []),
    ].join("\n"),
  );
  if (pending !== undefined)
    sayCommand(host, `root.pending.json, version ${pending}, waits for signatures: relcat trust sign`);
}
