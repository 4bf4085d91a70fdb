import { digestOf, isSameDigest, type Pepper } from "../secrets.ts";
import { counted } from "./words.ts";

/** Messages that pages show after an action. */
const messages = {
  accepted: (count: number) => `${counted(count, "device")} accepted.`,
  rejected: (count: number) =>
    `${counted(count, "device")} rejected, and ${count === 1 ? "its serial number" : "their serial numbers"} too.`,
  pending: (count: number) => `${counted(count, "device")} set back to pending.`,
  unchanged: () => "Nothing had to be changed.",
  renamed: () => "The device has its new name.",
  assigned: () => "The device is assigned.",
  deleted: () => "The device is deleted; its serial number stays rejected.",
  decided: (count: number) => `${counted(count, "serial number")} decided.`,
  undecided: (count: number) => `${counted(count, "decision")} taken back.`,
  revoked: () => "The key is revoked: it no longer works.",
  added: () => "The user was added, and can sign in with this password.",
  changed: () => "The user's names were changed.",
  role: () => "The user's role was changed.",
  password: () => "The user has a new password, and was signed out everywhere.",
  removed: () => "The user was deleted.",
  "own-names": () => "Your names were changed.",
  "own-password": () => "You have a new password. All your other sessions were signed out.",
  enabled: () => "The user can sign in again.",
  disabled: () => "The user is disabled and signed out everywhere.",
  "signed-out": () => "You are signed out.",
  "signed-in-ended": () => "Your session has ended; sign in again. Nothing was changed.",
} as const satisfies Record<string, (count: number) => string>;

export type MessageCode = keyof typeof messages;

/** A message for a URL, signed so that a link from elsewhere cannot make a page show false claims. */
export function signedMessage(pepper: Pepper, code: MessageCode, count = 1): string {
  return `${code}.${count}.${macOf(pepper, code, String(count))}`;
}

/** @returns undefined if this server did not sign it */
export function readMessage(pepper: Pepper, value: string | null): string | undefined {
  const [, code = "", count = "", mac = ""] =
    /^([a-z-]+)\.(\d{1,4})\.([0-9a-f]{32})$/.exec(value ?? "") ?? [];
  if (!Object.hasOwn(messages, code) || !isSameDigest(mac, macOf(pepper, code, count))) return undefined;
  return messages[code as MessageCode](Number(count));
}

const macOf = (pepper: Pepper, code: string, count: string): string =>
  digestOf(pepper, "check", "message", code, count).slice(0, 32);
