import { setImmediate as otherEvents } from "node:timers/promises";
import { type Expression, sql } from "kysely";
import type { z } from "zod";
import { digestOf } from "../auth/secrets.ts";
import { type Answer, type Call, principalOf } from "../call.ts";
import { invalid } from "../problems.ts";
import type { deviceQuerySchema } from "./device-documents.ts";
import { devicesAsText, serialKey } from "./device-rows.ts";

type Query = z.infer<typeof deviceQuerySchema>;
type ListCall = Call<undefined, Query>;

/** Rows per query: small, so that the database and garbage collection are not blocked for long. */
const portions = { sqlite: 100, postgres: 200 };

/** `GET device`: a map in order of creation, streamed whole, or paginated if a limit is given. */
export async function listDevices(call: ListCall): Promise<Answer> {
  const { query } = call;
  if (query.limit !== undefined) return answerPage(call, Number(query.limit));
  if (query.cursor !== undefined) throw invalid("cursor", "without-limit", "A cursor needs a limit.");
  return { status: 200, stream: streamed(call) };
}

async function answerPage(call: ListCall, limit: number): Promise<Answer> {
  const after = readCursor(call);
  const [{ text, last, count }, total] = await Promise.all([
    readPortion(call, after, limit),
    countMatching(call),
  ]);
  const headers: Record<string, string> = { "X-Total-Count": String(total) };
  if (count === limit && last !== null && (await hasMore(call, last))) {
    const url = new URL(call.request.target, "http://localhost");
    url.searchParams.set("cursor", cursorOf(call, last));
    headers.Link = `<${url.pathname}${url.search}>; rel="next"`;
  }
  return { status: 200, headers, text: `{"devices":${text ?? "{}"}}` };
}

/** Strips the braces of each portion, so that they form one JSON object. */
function streamed(call: ListCall): ReadableStream<string> {
  const portion = portions[call.controller.database.kind];
  let after = 0;
  let isFirst = true;
  return new ReadableStream({
    async pull(controller) {
      // SQLite answers synchronously, so a fast reader would starve other events.
      await otherEvents();
      const { text, last, count } = await readPortion(call, after, portion);
      const members = (text ?? "{}").trim().slice(1, -1);
      const start = isFirst ? '{"devices":{' : members === "" ? "" : ",";
      const isLast = count < portion || last === null;
      controller.enqueue(`${start}${members}${isLast ? "}}" : ""}`);
      isFirst = false;
      after = last ?? after;
      if (isLast) controller.close();
    },
  });
}

async function readPortion(call: ListCall, after: number, limit: number) {
  const { database } = call.controller;
  const page = matching(call).selectAll().where("ordinal", ">", after).orderBy("ordinal").limit(limit);
  const { rows } = await devicesAsText(database.kind, page as Expression<unknown>).execute(database.read);
  return rows[0] ?? { text: null, last: null, count: 0 };
}

async function hasMore(call: ListCall, after: number): Promise<boolean> {
  const row = await matching(call).select("ordinal").where("ordinal", ">", after).limit(1).executeTakeFirst();
  return row !== undefined;
}

async function countMatching(call: ListCall): Promise<number> {
  const row = await matching(call)
    .select(({ fn }) => fn.countAll().as("count"))
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

function matching({ controller: { database }, query: { state, serial, q } }: ListCall) {
  let found = database.read.selectFrom("devices");
  if (state !== undefined) found = found.where("state", "=", state);
  if (serial !== undefined) {
    const key = serialKey(serial);
    found = key === null ? found.where("serial", "=", serial) : found.where("serial_key", "=", key);
  }
  if (q !== undefined) {
    const part = `%${q.replace(/[\\%_]/g, "\\$&")}%`;
    // Both sides are lower-cased by the database, whose rules differ from JavaScript's.
    const contains = (column: "name" | "serial" | "id") =>
      sql<boolean>`lower(${sql.ref(column)}) like lower(${part}) escape '\\'`;
    found = found.where(({ or }) => or([contains("name"), contains("serial"), contains("id")]));
  }
  return found;
}

/** End of a page. The cursor is bound to the caller and to the filters. */
function cursorOf(
  { controller: { pepper }, query: { state, serial, q }, ...call }: ListCall,
  last: number,
): string {
  const { kind, id } = principalOf(call as Call);
  const parts = [String(last), kind, id, state ?? "", serial ?? "", q ?? ""];
  return `${last}.${digestOf(pepper, "check", "cursor", ...parts).slice(0, 32)}`;
}

function readCursor(call: ListCall): number {
  const { cursor } = call.query;
  if (cursor === undefined) return 0;
  const last = Number(/^\d{1,15}(?=\.)/.exec(cursor)?.[0] ?? Number.NaN);
  if (Number.isNaN(last) || cursorOf(call, last) !== cursor) {
    throw invalid("cursor", "unknown", "The cursor belongs to another list: start again without it.");
  }
  return last;
}
