import { z } from "zod";
import { sha256 } from "../../../shared/fields.ts";
import { count, line, text } from "./members.ts";

const event = <const Name extends string>(name: Name) => z.literal(name).describe("Kind of the line.");

const time = text("Time of the line, ISO 8601 in UTC with milliseconds.");
const url = text("Address of the server.");
const build = sha256.describe("Id of the build.");

export const servers = {
  "serve-listening": line("The server is ready.", { event: event("listening"), url, build }),
  listening: line("The server is ready.", { event: event("listening"), url }),
  request: line("A request was answered.", {
    time,
    event: event("request"),
    remote: text("Address of the client."),
    method: text("Method."),
    path: text("Path and query."),
    status: count("Status of the answer."),
    bytes: count("Size of the answer."),
    ms: z.number().describe("Duration in milliseconds."),
    agent: text("User-Agent of the client."),
  }),
  "site-replaced": line("Another build is served now.", { time, event: event("build"), build }),
  "server-error": line("Something failed; the server continues.", {
    time,
    event: event("error"),
    message: text("The failure, for people."),
  }),
};
