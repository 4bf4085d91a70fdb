import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { availableParallelism } from "node:os";
import { promisify } from "node:util";

/** OWASP's recommendation for Argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

const hash = promisify(argon2) as (algorithm: "argon2id", parameters: Argon2Parameters) => Promise<Buffer>;

/** Limited to the number of cores: each hash needs 19 MiB and a core for tens of milliseconds. */
const slots = { free: availableParallelism(), waiting: [] as (() => void)[] };

async function inSlot<T>(work: () => Promise<T>): Promise<T> {
  if (slots.free === 0) await new Promise<void>((resolve) => slots.waiting.push(resolve));
  else slots.free--;
  try {
    return await work();
  } finally {
    const next = slots.waiting.shift();
    if (next) next();
    else slots.free++;
  }
}

/** Queue length. Above a bound, it is better to reject logins than to queue them. */
export const waitingForHash = (): number => slots.waiting.length;

/** @returns the hash in PHC string format */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await inSlot(() => hash("argon2id", { ...cost, message: bytesOf(password), nonce }));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(nonce)}$${base64(tag)}`;
}

const phc = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/;

/** Takes equally long without a hash, so that timing does not reveal unknown users. @param hashed null: no such user */
export async function isPassword(password: string, hashed: string | null): Promise<boolean> {
  const [, memory, passes, parallelism, nonce = "", tag = ""] = phc.exec(hashed ?? dummy) ?? [];
  const expected = Buffer.from(tag, "base64");
  const parameters = {
    message: bytesOf(password),
    nonce: Buffer.from(nonce, "base64"),
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  };
  const actual = await inSlot(() => hash("argon2id", parameters));
  return timingSafeEqual(actual, expected) && hashed !== null;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64").replace(/=+$/, "");

/** NFC, so that a password typed on two machines has the same bytes (RFC 8265, OpaqueString). */
const bytesOf = (password: string) => new TextEncoder().encode(password.normalize("NFC"));

const dummy = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(new Uint8Array(16))}$${base64(new Uint8Array(32))}`;
