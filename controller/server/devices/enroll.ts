import { createPublicKey, randomBytes, randomUUID, verify } from "node:crypto";
import type { z } from "zod";
import { type Answer, actorOf, at, type Call, Refused, type Writing, write } from "../call.ts";
import { digestOf, isSameDigest, newSecret } from "../secrets.ts";
import { nameKeyOf } from "../store/name-key.ts";
import type { DeviceRow, SerialRow } from "../store/schema.ts";
import type { DeviceState, enrollRequestSchema } from "./device-documents.ts";
import { countOf, readSerial, serialKey } from "./device-rows.ts";

type Request = z.infer<typeof enrollRequestSchema>;

/** Lifetime of a nonce in milliseconds. */
const nonceLife = 300_000;

/** `GET device/enroll`: a stateless nonce for the proof, so that no one can fill the database with nonces. */
export function makeNonce({ controller: { pepper }, now }: Call): Answer {
  const ends = now + nonceLife;
  const random = randomBytes(16).toString("base64url");
  const nonce = `${ends}.${random}.${digestOf(pepper, "nonce", String(ends), random).slice(0, 32)}`;
  return { status: 200, body: { nonce, expires_at: at(ends) } };
}

/** `POST device/enroll`: the first and every later contact of a device. */
export async function enrollDevice(call: Call<Request>): Promise<Answer> {
  requireProof(call);
  const name = call.body.name ?? null;
  const byDevice: Call<Request> = { ...call, actor: { ...actorOf(call), kind: "device", name } };
  const outcome = await write(byDevice, (writing) => enroll(byDevice, writing));
  if (outcome !== "full") return outcome;
  await recordFull(byDevice);
  throw new Refused("enrolment-full", "Too many devices are waiting for a decision: try again later.", {
    headers: { "Retry-After": "3600" },
  });
}

const hour = 3_600_000;

/** Recorded at most once an hour, so that a flood cannot fill the audit log instead. */
async function recordFull(call: Call): Promise<void> {
  const { counters, log, settings } = call.controller;
  if ((await counters.add("enrolment full", hour, call.now)) > 1) return;
  const after = { pending: settings.mostPending };
  await write(call, async ({ record }) => record({ code: "enrolment.full", after }));
  log(
    `Enrolment is full: ${settings.mostPending} devices are waiting for a decision, and new ones are rejected.`,
  );
}

/** @throws Refused unless the sender proves possession of the private key */
function requireProof({ controller: { pepper }, now, body }: Call<Request>): void {
  const { nonce, proof, public_key } = body;
  const [ends = "", random = "", mac = "", ...rest] = nonce.split(".");
  const isOurs = rest.length === 0 && isSameDigest(mac, digestOf(pepper, "nonce", ends, random).slice(0, 32));
  if (!isOurs || Number(ends) < now)
    throw new Refused("forbidden", "The nonce was not issued here, or is too old: request another one.");
  const text = JSON.stringify(["relcat-enroll-1", nonce, public_key, ...Object.values(statedBy(body))]);
  if (!isSigned(public_key, text, proof))
    throw new Refused("forbidden", "The proof does not match the public key and the request.");
}

/** The statements of a device about itself, in the order of the proof. */
const statedBy = (body: Request) => ({
  name: body.name ?? null,
  serial: body.serial ?? null,
  device_type: body.device_type ?? null,
  device_os: body.device_os ?? null,
  version: body.version ?? null,
});

/** DER prefix of an Ed25519 public key (RFC 8410, section 4). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex");

function isSigned(publicKey: string, text: string, proof: string): boolean {
  try {
    const der = Buffer.concat([derPrefix, Buffer.from(publicKey, "base64")]);
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    return verify(null, Buffer.from(text), key, Buffer.from(proof, "base64"));
  } catch {
    return false;
  }
}

async function enroll(call: Call<Request>, writing: Writing): Promise<Answer | "full"> {
  const { transaction } = writing;
  await useNonce(call, writing);
  const known = await transaction
    .selectFrom("devices")
    .selectAll()
    .where("public_key", "=", call.body.public_key)
    .executeTakeFirst();
  return known ? greet(call, writing, known) : admit(call, writing);
}

/** A proof is accepted once, so that an eavesdropper cannot replay it. */
async function useNonce(
  { body: { nonce }, controller: { pepper }, now }: Call<Request>,
  { transaction }: Writing,
): Promise<void> {
  const digest = digestOf(pepper, "nonce", nonce);
  const used = await transaction
    .selectFrom("used_nonces")
    .select("digest")
    .where("digest", "=", digest)
    .executeTakeFirst();
  if (used) throw new Refused("forbidden", "The nonce was already used: request another one.");
  await transaction.deleteFrom("used_nonces").where("expires_at", "<", at(now)).execute();
  await transaction
    .insertInto("used_nonces")
    .values({ digest, expires_at: at(now + nonceLife) })
    .execute();
}

/** A known device keeps its state, regardless of what it reports. */
async function greet(call: Call<Request>, writing: Writing, device: DeviceRow): Promise<Answer> {
  const { version = null } = call.body;
  await writing.transaction
    .updateTable("devices")
    .set({ last_seen: at(call.now), last_seen_version: version })
    .where("id", "=", device.id)
    .execute();
  const isOwed = device.state === "accepted" && device.token_digest === null;
  return answerOf(200, device, isOwed ? await giveToken(call, writing, device.id) : undefined);
}

async function admit(call: Call<Request>, writing: Writing): Promise<Answer | "full"> {
  const { transaction, record } = writing;
  const { settings, id: controllerId } = call.controller;
  const { name, serial, device_type, device_os, version } = statedBy(call.body);
  const key = serialKey(serial);
  const decision = key === null ? undefined : await readSerial(transaction, key);
  const { state, why } = await firstState(writing, key, decision, settings.mostAccepted);
  if (state === "pending" && (await countOf(transaction, "pending")) >= settings.mostPending) return "full";
  if (state === "rejected" && (await countRejected(transaction, key)) >= maxRejected)
    throw new Refused("forbidden", "The serial number is rejected, and already has many keys.");
  const now = at(call.now);
  const device: Omit<DeviceRow, "ordinal"> = {
    id: randomUUID(),
    name,
    state,
    serial,
    serial_key: key,
    public_key: call.body.public_key,
    ipv6: null,
    device_type,
    device_os,
    controller_id: controllerId,
    owned_by_org: settings.organisation ?? null,
    assigned_to_user: null,
    last_seen: now,
    last_seen_version: version,
    version: 1,
    created_at: now,
    state_changed_at: now,
    state_changed_by: why === undefined ? null : (decision?.created_by ?? null),
    state_reason: why ?? null,
    token_digest: null,
  };
  await transaction
    .insertInto("devices")
    .values({ ...device, name_key: nameKeyOf(name, serial) })
    .execute();
  // An acceptance in advance covers one device; the next one with this number is pending.
  if (decision?.source === "decision" && decision.enforce_state === "accepted" && state === "accepted") {
    await transaction.deleteFrom("serials").where("serial_key", "=", decision.serial_key).execute();
  }
  record({
    code: "device.enrolled",
    target: { kind: "device", id: device.id },
    after: { state, name, serial, ...(why && { reason: why }) },
  });
  return answerOf(201, device, state === "accepted" ? await giveToken(call, writing, device.id) : undefined);
}

async function firstState(
  { transaction }: Writing,
  key: string | null,
  decision: SerialRow | undefined,
  maxAccepted: number | undefined,
): Promise<{ state: DeviceState; why?: string }> {
  if (!decision) return { state: "pending" };
  if (decision.enforce_state === "rejected") {
    const why =
      decision.source === "rejection"
        ? `the serial number was rejected with device ${decision.device_id}`
        : "decided in advance";
    return { state: "rejected", why };
  }
  const state =
    decision.enforce_state === "retain" ? await stateBefore(transaction, key, decision) : "accepted";
  if (state === "pending") return { state };
  if (
    state === "accepted" &&
    maxAccepted !== undefined &&
    (await countOf(transaction, "accepted")) >= maxAccepted
  ) {
    return { state: "pending", why: "decided in advance, but no more devices can be accepted" };
  }
  return { state, why: "decided in advance" };
}

/** `retain`: the state that the machine had with its previous key. */
async function stateBefore(
  transaction: Writing["transaction"],
  key: string | null,
  { device_id }: SerialRow,
): Promise<DeviceState> {
  const devices = transaction.selectFrom("devices").select("state").orderBy("ordinal", "desc").limit(1);
  const found =
    device_id === null ? devices.where("serial_key", "=", key) : devices.where("id", "=", device_id);
  return ((await found.executeTakeFirst())?.state ?? "pending") as DeviceState;
}

/** Maximum number of recorded keys of one rejected machine. */
const maxRejected = 20;

async function countRejected(transaction: Writing["transaction"], key: string | null): Promise<number> {
  const devices = transaction
    .selectFrom("devices")
    .select("id")
    .where("serial_key", "=", key)
    .where("state", "=", "rejected");
  return (await devices.limit(maxRejected).execute()).length;
}

/** The token is returned only once; the database stores its digest. */
async function giveToken(
  { controller: { pepper, settings } }: Call,
  { transaction, record }: Writing,
  id: string,
): Promise<string> {
  const token = newSecret(settings.prefixes.device);
  await transaction
    .updateTable("devices")
    .set({ token_digest: digestOf(pepper, "device", id, token) })
    .where("id", "=", id)
    .execute();
  record({ code: "device.token", target: { kind: "device", id } });
  return token;
}

const answerOf = (
  status: 200 | 201,
  { id, state }: Pick<DeviceRow, "id" | "state">,
  token?: string,
): Answer => ({
  status,
  body: { id, state, ...(token !== undefined && { token }) },
});
