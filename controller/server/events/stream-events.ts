import type { UnderlyingDefaultSource } from "node:stream/web";
import { setTimeout as wait } from "node:timers/promises";
import type { z } from "zod";
import { caching } from "../../../service/http/answers.ts";
import { refusalOf } from "../access.ts";
import type { eventsQuerySchema } from "../audit/audit-documents.ts";
import { auditRowOf } from "../audit/list-audit.ts";
import { identify } from "../auth/authenticate.ts";
import { type Answer, type Call, invalid, principalOf, Refused } from "../call.ts";
import { contracts } from "../contracts.ts";
import { deviceCodes } from "../store/audit-log.ts";
import type { AuditRow } from "../store/schema.ts";

type EventsCall = Call<undefined, z.infer<typeof eventsQuerySchema>>;

/** Maximum number of open streams: in total, and per key or user. */
const maxStreams = { all: 500, each: 10 };
const open = new Map<string, number>();
/** Events read per query. */
const portion = 200;
/** Milliseconds; proxies close connections that are silent for a minute. */
const heartbeat = 15_000;

const streamHeaders = {
  "Content-Type": "text/event-stream",
  "Cache-Control": caching.none,
  "X-Accel-Buffering": "no",
};

/** `GET events`: an event's id is the number of its audit row, so a client that connects again misses nothing. */
export async function streamEvents(call: EventsCall): Promise<Answer> {
  // An answer to HEAD has no reader, so a stream would never end.
  if (call.request.method === "HEAD") return { status: 200, headers: streamHeaders };
  const release = occupy(`${principalOf(call).kind} ${principalOf(call).id}`);
  try {
    const after = await startOf(call);
    const stream = new ReadableStream(source(call, after, release));
    return { status: 200, headers: streamHeaders, stream };
  } catch (error) {
    release();
    throw error;
  }
}

function occupy(key: string): () => void {
  const [all, own] = [open.values().reduce((sum, count) => sum + count, 0), open.get(key) ?? 0];
  if (all >= maxStreams.all || own >= maxStreams.each) {
    const detail = `At most ${maxStreams.each} streams of one key or user, and ${maxStreams.all} in all, are open at the same time.`;
    throw new Refused("busy", detail, { headers: { "Retry-After": "10" } });
  }
  open.set(key, own + 1);
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    const left = (open.get(key) ?? 1) - 1;
    if (left > 0) open.set(key, left);
    else open.delete(key);
  };
}

async function startOf({ query, request, controller: { database } }: EventsCall): Promise<number> {
  const last = request.header("last-event-id");
  if (last !== null && !/^\d{1,15}$/.test(last))
    throw invalid("Last-Event-ID", "malformed", "An event's id is a number.");
  const given = last ?? query.after;
  if (given !== undefined) return Number(given);
  const row = await database.read
    .selectFrom("audit_log")
    .select(({ fn }) => fn.max("seq").as("seq"))
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}

function source(call: EventsCall, start: number, release: () => void): UnderlyingDefaultSource<Uint8Array> {
  const encoder = new TextEncoder();
  const { closing } = call.caller;
  // Ends the wait of `next`, or the next one. The first events are read without one.
  let bell = new AbortController();
  const ring = () => bell.abort();
  ring();
  const stopListening = call.controller.database.onCommit(ring);
  closing?.addEventListener("abort", ring);
  let after = start;
  let isOpen = true;
  const end = () => {
    isOpen = false;
    stopListening();
    closing?.removeEventListener("abort", ring);
    ring();
    release();
  };
  /** Returns the next text; undefined once the client is gone. */
  const next = async (): Promise<string | undefined> => {
    while (isOpen) {
      await wait(heartbeat, undefined, { signal: bell.signal }).catch(() => {});
      const rang = bell.signal.aborted;
      bell = new AbortController();
      if (!isOpen || closing?.aborted) return undefined;
      const rows = await readEvents(call, after);
      // Checked after reading, because a right that was revoked between check and read would leak events.
      if (!(await mayStillRead(call))) return undefined;
      if (rows.length === portion) ring();
      after = rows.at(-1)?.seq ?? after;
      if (rows.length > 0) return rows.map(eventOf).join("");
      if (!rang) return ": still here\n\n";
    }
    return undefined;
  };
  return {
    start: (stream) => stream.enqueue(encoder.encode("retry: 2000\n\n")),
    async pull(stream) {
      // If the database fails, the client asks again, and that answer says why.
      const text = await next().catch(() => undefined);
      if (text !== undefined) return stream.enqueue(encoder.encode(text));
      if (!isOpen) return;
      end();
      stream.close();
    },
    cancel: end,
  };
}

async function mayStillRead({ controller, request, alias }: EventsCall): Promise<boolean> {
  const identified = await identify(controller, request, controller.clock());
  const principal = identified && "principal" in identified ? identified.principal : undefined;
  return refusalOf(contracts.streamEvents.access, principal, alias) === undefined;
}

const readEvents = ({ controller: { database } }: EventsCall, after: number): Promise<AuditRow[]> =>
  database.read
    .selectFrom("audit_log")
    .selectAll()
    .where("seq", ">", after)
    .where("code", "in", deviceCodes)
    .orderBy("seq")
    .limit(portion)
    .execute();

/** JSON text contains no line breaks, so an event has three lines (HTML standard, 9.2). */
function eventOf(row: AuditRow): string {
  const { hash: _, request_id: _request, actor, ...event } = auditRowOf(row);
  const { ip: _ip, ...who } = actor;
  return `id: ${row.seq}\nevent: ${row.code}\ndata: ${JSON.stringify({ ...event, actor: who })}\n\n`;
}
