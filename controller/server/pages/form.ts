import type { ServerRequest } from "../../../service/http/request.ts";
import { Refused } from "../call.ts";
import { ApiError } from "./visit.ts";

/** A thousand devices with their versions need about 56 KB. */
const maxFormBytes = 256 * 1024;
const maxFields = 2100;

/** Reads a form of limited size. @throws Refused for anything else */
export async function readForm(request: ServerRequest): Promise<URLSearchParams> {
  const type = request.header("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type))
    throw new Refused("unsupported-media-type", "Forms are sent as application/x-www-form-urlencoded.");
  const bytes = await request.read(maxFormBytes);
  if (bytes === "too-large")
    throw new Refused("too-large", `Forms have at most ${maxFormBytes} bytes.`, {
      headers: { Connection: "close" },
    });
  if (bytes === "cut-off") throw new Refused("bad-request", "The form ended before its length.");
  const text = new TextDecoder().decode(bytes);
  if (text.split("&", maxFields + 1).length > maxFields)
    throw new Refused("too-large", `Forms have at most ${maxFields} fields.`);
  return new URLSearchParams(text);
}

/** Trimmed; undefined if empty. */
export function fieldOf(form: URLSearchParams, name: string): string | undefined {
  const text = (form.get(name) ?? "").trim();
  return text === "" ? undefined : text;
}

/** Returns text that is not a number unchanged, so that the API rejects it. */
export function numberIn(form: URLSearchParams, name: string): number | string | undefined {
  const text = fieldOf(form, name);
  const number = Number(text);
  return text === undefined || Number.isNaN(number) ? text : number;
}

/** A refused change, shown above the form that asked for it. */
export interface Refusal {
  status: number;
  detail: string;
  errors: string[];
}

const shown = [400, 403, 404, 409];

const labels: Record<string, string> = {
  "/name": "Name",
  "/email": "Email address",
  "/username": "User name",
  "/password": "Password",
  "/role": "Role",
};

/** @throws the error if it is not an answer about the values of a form */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof ApiError) || !shown.includes(error.status)) throw error;
  const { status, message, errors } = error;
  const listed = errors.map(({ pointer, detail }) =>
    labels[pointer] === undefined ? detail : `${labels[pointer]}: ${detail}`,
  );
  return errors.length > 0
    ? { status, detail: "Nothing was changed. Correct this, and send the form again:", errors: listed }
    : { status, detail: message, errors: [] };
}
