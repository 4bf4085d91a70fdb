import { enrollBody, type KeyPair, newPair, type TestController, type TestKey } from "./support.ts";

type Fields = Parameters<typeof enrollBody>[1];

export const nonceOf = async ({ call }: Pick<TestController, "call">): Promise<string> =>
  (await call("GET", "/device/enroll")).json.nonce;

/** The enrolment of a device now. */
export async function proven(controller: TestController, fields: Fields = {}, pair: KeyPair = newPair()) {
  return enrollBody(await nonceOf(controller), fields, pair);
}

export const send = ({ call }: Pick<TestController, "call">, body: unknown) =>
  call("POST", "/device/enroll", { body });

/** Decides on serial numbers in advance. */
export const decide = (
  { call }: TestController,
  { headers }: TestKey,
  decisions: Record<string, "accepted" | "rejected" | "retain" | "none">,
) =>
  call("POST", "/device/auth_decisions", {
    headers,
    body: {
      auth_decisions: Object.entries(decisions).map(([serial, enforce_state]) => ({ serial, enforce_state })),
    },
  });
