import {
  beginFeedKeys,
  type FeedKeyDelivery,
  type FeedKeyEnd,
  type FeedKeyState,
  type NewFeedKey,
  openSettings,
  type ProjectSettings,
  type RotationStep,
  rotateFeedKey,
} from "../../pipeline/index.ts";
import { answer, type Host, say, sayNext } from "../terminal/host.ts";
import { timeOf } from "../terminal/option-values.ts";
import { UsageError } from "../terminal/usage.ts";
import { inDays, listed, shellWord } from "../terminal/words.ts";

export const signing = "relcat build --released and relcat sign";

export async function initOpenPgp(source: NewFeedKey, { now }: { now?: string }, host: Host): Promise<void> {
  requireSource(source, "relcat trust init ~/relcat-keys --openpgp");
  const project = await openSettings(host.releases);
  const done = await beginFeedKeys(project, source, timeOf(now, host));
  answerKey(done, host);
  say(
    host,
    "openpgp    signs apt and yum repositories, in CI. If it is lost or stolen, replace it: relcat trust rotate openpgp. It is not the online key.",
  );
  sayNext(
    host,
    `commit ${host.releases}/trust, ${exported(done.keys[0], project.config.trust.openpgp[0])}then ${signing}`,
  );
}

export async function rotateOpenPgp(
  step: RotationStep | undefined,
  source: NewFeedKey,
  { now }: { now?: string },
  host: Host,
): Promise<void> {
  if (step === undefined)
    throw new UsageError(
      "the OpenPGP key is rotated in three steps, and --step is missing",
      "Give --step announce, and weeks later --step sign, then --step retire.",
    );
  if (step === "announce") requireSource(source, "relcat trust rotate openpgp --step announce --keys KEYS");
  const done = await rotateFeedKey(await openSettings(host.releases), step, source, timeOf(now, host));
  answerKey(done, host);
  say(host, consequences[step]);
  sayNext(host, `commit ${host.releases}/trust, then ${nextSteps[step]}`);
}

const consequences: Record<RotationStep, string> = {
  announce:
    "From the next publish on, clients that are set up again trust both keys. When all clients have been set up again, continue with --step sign.",
  sign: "From the next publish on, both keys sign: relcat sign needs both private keys, one armored block after the other in one variable or file. Clients that know one of them keep working. When all clients know the new key, continue with --step retire.",
  retire:
    "From the next publish on, clients that know only this key refuse the repositories. The old private key is no longer needed.",
};

const nextSteps: Record<RotationStep, string> = {
  announce: signing,
  sign: "put both private keys where relcat sign finds them",
  retire: "leave only the new private key where relcat sign finds it",
};

function requireSource({ keys, certificate }: NewFeedKey, example: string): void {
  if ((keys === undefined) !== (certificate === undefined)) return;
  throw new UsageError(
    keys === undefined
      ? "neither a folder for the private key nor a certificate is given"
      : "a folder for a new private key and the certificate of an existing key are given",
    `Give one of them: ${example}, or --certificate FILE for a key that a program holds.`,
  );
}

const stateWords: Record<FeedKeyState, string> = {
  announced: "is announced, and signs nothing yet",
  signing: "signs package repositories",
  retired: "is retired",
};

function answerKey(done: FeedKeyDelivery, host: Host): void {
  const { fingerprint, state, keys, written } = done;
  const made = keys.length > 0 ? `Created ${listed(keys)}; wrote` : "Wrote";
  answer<"trust-openpgp">(
    host,
    { ...done },
    () => `${made} ${listed(written)}. ${fingerprint} ${stateWords[state]}.`,
  );
}

type Trust = ProjectSettings["config"]["trust"];

/** Shell text that exports a key to `sign`; "" if catalog.yaml names a file or a program instead. */
export const exported = (
  key: string | undefined,
  spec: Trust["online"] | Trust["openpgp"][number] | undefined,
): string =>
  key !== undefined && spec && "env" in spec ? `export ${spec.env}="$(cat ${shellWord(key)})", ` : "";

export function describeFeedKey({ fingerprint, state, since, ends }: FeedKeyEnd, host: Host): string {
  const days = ends === null ? undefined : Math.floor((Date.parse(ends) - host.clock) / 86_400_000);
  const end = days === undefined ? "" : days < 0 ? ", it has expired" : `, it expires ${inDays(days)}`;
  return `${"openpgp".padEnd(10)} ${state} since ${since.slice(0, 10)}${end}  ${fingerprint}`;
}
