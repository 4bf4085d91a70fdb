import { ApiError } from "./ask.ts";

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
