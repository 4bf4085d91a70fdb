import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { bodyOf, detail, json, methodNotAllowed, withBody } from "../http/answers.ts";
import { hasSeveralHosts } from "../http/node-request.ts";
import {
  boundedServer,
  closeServer,
  listen,
  logWhenDone,
  type Patience,
  patience,
  proxiesOf,
  type RequestEntry,
  sendAnswer,
} from "../http/node-server.ts";
import { readPath } from "../http/path.ts";
import { type CatalogApp, type CatalogAppOptions, catalogApp } from "./app.ts";
import { ReadyAnswers } from "./node-answers.ts";
import { type ArtifactPlace, namesArtifact, sendArtifact } from "./node-artifacts.ts";
import { SiteUnfinished } from "./node-files.ts";
import { HonestHosts } from "./node-hosts.ts";
import { ListAnswers } from "./node-list.ts";
import type { FolderSite } from "./node-site.ts";
import { type WatchedSite, watchSite } from "./node-watch.ts";

export { untilStopped } from "../http/node-server.ts";

export interface OriginOptions {
  /** The emitted site. */
  folder: string;
  host: string;
  /** 0: any free port. */
  port: number;
  /** Addresses or networks (10.0.0.0/8) whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[];
  /** Several processes may listen on the same port. */
  reusePort?: boolean;
  addManifest?: CatalogAppOptions["addManifest"];
  /** How long clients are waited for, in milliseconds, where not as usual. */
  patience?: Partial<Patience>;
  /** Monotonic clock in milliseconds, for durations. */
  clock: () => number;
  log: (entry: LogEntry) => void;
}

/** A line of the log: one for each request, and what else happens. */
export type LogEntry = RequestEntry | { event: "build"; build: string } | { event: "error"; message: string };

export interface Origin {
  url: string;
  /** The id of the build that is served. */
  build(): string;
  /** Takes a newer build at once, if there is one. */
  refresh(): Promise<void>;
  /** Takes no more requests, finishes those that run, and ends what takes longer than ten seconds. */
  close(): Promise<void>;
}

/**
 * Serves an emitted site.
 * @throws ENOENT, SyntaxError, SiteUnfinished for the folder; EADDRINUSE, EACCES for the address
 */
export async function startOrigin(options: OriginOptions): Promise<Origin> {
  const { log } = options;
  const site = await watchSite(options.folder, (news) =>
    log(
      "build" in news
        ? { event: "build", build: news.build }
        : { event: "error", message: String(news.error) },
    ),
  );
  const app = catalogApp({
    addManifest: options.addManifest,
    onError: (error) => {
      if (error instanceof SiteUnfinished) throw error;
      log({
        event: "error",
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
    },
  });
  const waits = { ...patience, ...options.patience };
  const server = boundedServer(waits);
  server.on("request", requestListener(app, site, options));
  const address = await listen(server, options);
  return {
    url: `http://${address}`,
    build: () => site.current().id,
    refresh: site.refresh,
    close() {
      site.stop();
      return closeServer(server, waits.close);
    },
  };
}

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

function requestListener(app: CatalogApp, site: WatchedSite, options: OriginOptions): Listener {
  const { remoteOf } = proxiesOf(options.trustedProxies ?? []);
  const hosts = new HonestHosts();
  const current = () => answersOf(site.current());
  const answerRouted = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const { site: served, ready } = current();
      const response = await app(request, served).catch(() => afterRefresh(app, request, site));
      if (site.current() === served) ready.keep(incoming as IncomingMessage, response);
      await deliver(outgoing as ServerResponse, response);
      return RESPONSE_ALREADY_SENT;
    },
    {
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      hostname: options.host,
      errorHandler: () => withBody(detail(400, "Bad request.")),
    },
  );
  return (incoming, outgoing) => {
    logWhenDone(incoming, outgoing, remoteOf(incoming), options);
    if (hasSeveralHosts(incoming)) return void deliver(outgoing, severalHosts());
    const { ready, lists } = current();
    if (
      hosts.has(incoming.headers.host) &&
      (ready.send(incoming, outgoing) || lists.send(incoming, outgoing))
    )
      return;
    const early = answerEarly(incoming, site);
    if (early) void deliver(outgoing, early);
    else if (namesArtifact(site.current(), incoming.url ?? ""))
      void answerArtifact(
        site.current(),
        incoming,
        outgoing,
        () => answerRouted(incoming, outgoing),
        options,
      );
    else void answerRouted(incoming, outgoing);
  };
}

/** Where there is no such artifact, the site says so as it does for every file. */
async function answerArtifact(
  place: ArtifactPlace,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  otherwise: () => unknown,
  { log }: OriginOptions,
): Promise<void> {
  try {
    if (!(await sendArtifact(place, incoming, outgoing))) otherwise();
  } catch (error) {
    log({ event: "error", message: error instanceof Error ? error.message : String(error) });
    void deliver(outgoing, detail(500, "Something went wrong here."));
  }
}

/** What is answered before the router, of one build; it vanishes with the build. */
function answersOf(site: FolderSite): EarlyAnswers {
  const known = early.get(site) ?? { site, ready: new ReadyAnswers(site), lists: new ListAnswers(site) };
  early.set(site, known);
  return known;
}

interface EarlyAnswers {
  site: FolderSite;
  ready: ReadyAnswers;
  lists: ListAnswers;
}

const early = new WeakMap<FolderSite, EarlyAnswers>();

/** The files changed under our feet: the new build is taken if it is finished, else the client comes again. */
async function afterRefresh(app: CatalogApp, request: Request, site: WatchedSite): Promise<Response> {
  await site.refresh();
  return app(request, site.current()).catch(() =>
    detail(503, "A new build is being written.", { "Retry-After": "1" }),
  );
}

const severalHosts = () => detail(400, "The request has more than one Host header.", { Connection: "close" });

/** What no router should see. */
function answerEarly(
  { url = "/", method = "GET" }: IncomingMessage,
  site: WatchedSite,
): Response | undefined {
  if (url === "/healthz") {
    return json(200, { status: "ok", build: site.current().id });
  }
  if (readPath(url, "") === "bad") return detail(400, "Bad request path.");
  // Web-standard requests cannot have these methods (Fetch standard, forbidden methods).
  if (!["TRACE", "CONNECT"].includes(method)) return undefined;
  return methodNotAllowed(method, { Allow: "GET, POST, HEAD, OPTIONS", Vary: "Accept" });
}

async function deliver(outgoing: ServerResponse, response: Response): Promise<void> {
  const body = bodyOf(response) ?? new Uint8Array(await response.arrayBuffer());
  const sent = outgoing.req.method === "HEAD" || response.status === 304 ? undefined : body;
  sendAnswer(outgoing, response.status, [...response.headers].flat(), sent);
}
