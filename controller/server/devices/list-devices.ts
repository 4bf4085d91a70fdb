import { setImmediate as otherEvents } from "node:timers/promises";
import { type Expression, sql } from "kysely";
import type { z } from "zod";
import { type Answer, type Call, invalid, principalOf } from "../call.ts";
import { digestOf } from "../secrets.ts";
import { valuesOf } from "../store/prepared.ts";
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
  if (query.sort === "name") throw invalid("sort", "without-limit", "An order by name needs a limit.");
  if (query.cursor !== undefined) throw invalid("cursor", "without-limit", "A cursor needs a limit.");
  return { status: 200, stream: streamed(call) };
}

async function answerPage(call: ListCall, limit: number): Promise<Answer> {
  const from = readCursor(call);
  // One more row than asked for shows whether there is another page.
  const found = await positionsOf(call, from, limit + 1);
  const shown = found.slice(0, limit);
  if (from?.isBackwards) shown.reverse();
  const [text, total, links] = await Promise.all([
    textOf(call, shown),
    countMatching(call),
    linksOf(call, shown, from, found.length > limit),
  ]);
  const headers: Record<string, string> = { "X-Total-Count": String(total) };
  if (links.length > 0) headers.Link = links.join(", ");
  return { status: 200, headers, text: `{"devices":${text}}` };
}

async function linksOf(
  call: ListCall,
  shown: readonly Place[],
  from: Position | undefined,
  isMore: boolean,
): Promise<string[]> {
  const [first, last] = [shown[0], shown.at(-1)];
  if (!first || !last) return [];
  const next: Position = { ...last, isBackwards: false };
  const previous: Position = { ...first, isBackwards: true };
  const [hasNext, hasPrevious] = from?.isBackwards
    ? [await isFollowed(call, next), isMore]
    : [isMore, from !== undefined && (await isFollowed(call, previous))];
  return [
    ...(hasNext ? [linkTo(call, next, "next")] : []),
    ...(hasPrevious ? [linkTo(call, previous, "prev")] : []),
  ];
}

const isFollowed = async (call: ListCall, position: Position): Promise<boolean> =>
  (await positionsOf(call, position, 1)).length > 0;

function linkTo(call: ListCall, position: Position, rel: "next" | "prev"): string {
  const url = new URL(call.request.target, "http://localhost");
  url.searchParams.set("cursor", cursorOf(call, position));
  return `<${url.pathname}${url.search}>; rel="${rel}"`;
}

/** Place of a device in the list: its ordinal, and its key if the list is sorted by name. */
interface Place {
  ordinal: number;
  name_key: string;
}
/** The rows after a place, or before it. */
interface Position extends Place {
  isBackwards: boolean;
}

const byName = sql`name_key, ordinal`;

/** Places of the matching devices from a position on, nearest first. */
function positionsOf(call: ListCall, from: Position | undefined, limit: number): Promise<Place[]> {
  const isByName = call.query.sort === "name";
  const direction = from?.isBackwards ? "desc" : "asc";
  let found = matching(call).select(["ordinal", "name_key"]);
  if (isByName) found = found.orderBy("name_key", direction);
  found = found.orderBy("ordinal", direction).limit(limit);
  if (!from) return found.execute();
  const sign = sql.raw(from.isBackwards ? "<" : ">");
  const after = isByName
    ? sql<boolean>`(name_key, ordinal) ${sign} (${from.name_key}, ${from.ordinal})`
    : sql<boolean>`ordinal ${sign} ${from.ordinal}`;
  return found.where(after).execute();
}

/** The devices at these places that still match, in order. */
async function textOf(call: ListCall, places: readonly Place[]): Promise<string> {
  const { database } = call.controller;
  const ordinals = JSON.stringify(places.map(({ ordinal }) => ordinal));
  const order = call.query.sort === "name" ? byName : sql`ordinal`;
  const page = matching(call)
    .selectAll()
    .where(sql<boolean>`ordinal in ${valuesOf(database.kind, "bigint", ordinals)}`)
    .orderBy(order);
  const { rows } = await devicesAsText(database.kind, page as Expression<unknown>, order).execute(
    database.read,
  );
  return rows[0]?.text ?? "{}";
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

/** The cursor is bound to the caller, to the filters and, by its form, to the order. */
function cursorOf(call: ListCall, { ordinal, name_key, isBackwards }: Position): string {
  const { state, serial, q, sort } = call.query;
  const { kind, id } = principalOf(call as never as Call);
  const key = sort === "name" ? `~${Buffer.from(name_key).toString("base64url")}` : "";
  const position = `${isBackwards ? "-" : ""}${ordinal}${key}`;
  const parts = [position, kind, id, state ?? "", serial ?? "", q ?? ""];
  return `${position}.${digestOf(call.controller.pepper, "check", "cursor", ...parts).slice(0, 32)}`;
}

const cursorForm = /^(-?)(\d{1,15})(?:~([\w-]*))?\./;

function readCursor(call: ListCall): Position | undefined {
  const { cursor } = call.query;
  if (cursor === undefined) return undefined;
  const [, minus, ordinal = "", key = ""] = cursorForm.exec(cursor) ?? [];
  const position = {
    ordinal: Number(ordinal),
    name_key: Buffer.from(key, "base64url").toString(),
    isBackwards: minus === "-",
  };
  if (ordinal === "" || cursorOf(call, position) !== cursor) {
    throw invalid("cursor", "unknown", "The cursor belongs to another list: start again without it.");
  }
  return position;
}
