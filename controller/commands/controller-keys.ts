import { hostname } from "node:os";
import type { OutputDocument } from "../../cli/output/outputs.ts";
import { table } from "../../cli/terminal/cells.ts";
import { answer, type Host, say, sayNext } from "../../cli/terminal/host.ts";
import { UsageError } from "../../cli/terminal/usage.ts";
import { count } from "../../cli/terminal/words.ts";
import { failure } from "../../shared/errors.ts";
import { type Api, type ControllerPlace, connect, withApi } from "./api.ts";

type Key = OutputDocument<"controller-key">;
type NewKey = OutputDocument<"controller-new-key">;

const day = (moment: string | null) => moment?.slice(0, 10) ?? "never";

export function createKey(
  options: ControllerPlace & { name?: string; scopes?: string[]; days?: number | "never" },
  host: Host,
): Promise<void> {
  const { scopes, days } = options;
  const moment = new Date(host.clock).toISOString().replace(/[^\dT]/g, "");
  const { name = `${hostname()}-${moment}` } = options;
  const body = {
    name,
    ...(scopes && { scopes }),
    ...(days !== undefined && { expires_in_days: days }),
  };
  return withApi(options, host, async (api) => {
    const made = await api.ask<NewKey>("POST", "/api_keys", body);
    say(
      host,
      `Created the API key ${made.name} for ${made.scopes.join(", ") || "nothing"}; it expires: ${day(made.expires_at)}.`,
    );
    return showSecret(made, host);
  });
}

/** Standard output contains only shell assignments: `eval "$(relcat controller keys create …)"`. */
function showSecret(made: NewKey, host: Host): void {
  if (!host.json) say(host, "The secret is shown only once:");
  answer<"controller-new-key">(
    host,
    { ...made },
    () => `export RELCAT_API_KEY_ID=${made.id}\nexport RELCAT_API_KEY=${made.key}`,
  );
}

export function listKeys(options: ControllerPlace, host: Host): Promise<void> {
  return withApi(options, host, async (api) => {
    const keys = await readKeys(api);
    answer<"controller-keys-list">(host, { api_keys: keys }, () =>
      keys.length === 0
        ? "There are no API keys."
        : table([["id", "name", "state", "ends", "last used", "scopes"], ...keys.map(rowOf)]),
    );
  });
}

const rowOf = (key: Key): string[] => [
  key.id,
  key.name ?? "",
  key.revoked_at !== null ? "revoked" : key.disabled ? "disabled" : "in use",
  day(key.expires_at),
  day(key.last_used_at),
  key.scopes.join(" "),
];

async function readKeys(api: Api): Promise<Key[]> {
  return (await api.ask<{ api_keys: Key[] }>("GET", "/api_keys")).api_keys;
}

/** Finds a key by id, or by a unique name; revoked keys only by id. */
async function requireKey(api: Api, word: string): Promise<Key> {
  const keys = await readKeys(api);
  const found = keys.filter(
    ({ id, name, revoked_at }) => id === word || (name === word && revoked_at === null),
  );
  const [only] = found;
  if (only && found.length === 1) return only;
  if (found.length === 0)
    throw failure(
      "key-unmatched",
      `no API key has the id or the name ${JSON.stringify(word)}`,
      "relcat controller keys list shows them all.",
    );
  throw failure(
    "key-unmatched",
    `${count(found.length, "API key")} have the name ${JSON.stringify(word)}`,
    `Give an id: ${found.map(({ id }) => id).join(", ")}`,
  );
}

export function revokeKey(word: string, place: ControllerPlace, host: Host): Promise<void> {
  return withApi(place, host, async (api) => {
    const { id, name } = await requireKey(api, word);
    await api.ask("DELETE", `/api_keys/${id}`);
    answer<"controller-keys-revoke">(
      host,
      { id, name },
      () => `Revoked ${id}${name === null ? "" : ` (${name})`}: requests with it are refused from now on.`,
    );
  });
}

export function setDisabled(
  word: string,
  disabled: boolean,
  place: ControllerPlace,
  host: Host,
): Promise<void> {
  return withApi(place, host, async (api) => {
    const { id } = await requireKey(api, word);
    const key = await api.ask<Key>("POST", `/api_keys/${id}`, { disabled });
    answer<"controller-key">(
      host,
      { ...key },
      () => `${disabled ? "Disabled" : "Enabled"} ${id}${key.name === null ? "" : ` (${key.name})`}.`,
    );
  });
}

/** `relcat controller keys rotate`; `me` is the key in the environment, which needs no session. */
export async function rotateKey(
  word: string,
  options: ControllerPlace & { overlap?: number },
  host: Host,
): Promise<void> {
  const body = { ...(options.overlap !== undefined && { overlap_hours: options.overlap }) };
  if (word === "me") return rotateOwn(options, body, host);
  return withApi(options, host, async (api) => {
    const { id } = await requireKey(api, word);
    return showRotated(await api.ask<NewKey>("POST", `/api_keys/${id}/rotate`, body), host);
  });
}

async function rotateOwn(place: ControllerPlace, body: object, host: Host): Promise<void> {
  if (place.database !== undefined || !host.environment.RELCAT_API_KEY) {
    throw new UsageError(
      "me means the key in RELCAT_API_KEY_ID and RELCAT_API_KEY, at the address of a controller",
      "Export both and leave --database out; or give the id of a key.",
    );
  }
  return showRotated(await connect(place, host).ask<NewKey>("POST", "/api_keys/me/rotate", body), host);
}

function showRotated(rotated: NewKey, host: Host): void {
  const { previous_until: until } = rotated;
  say(host, until === undefined ? "The old secret no longer works." : `The old secret works until ${until}.`);
  showSecret(rotated, host);
  sayNext(host, `replace the old secret with it; the key expires: ${day(rotated.expires_at)}`);
}
