import type { IncomingMessage, ServerResponse } from "node:http";
import type { ListQuery } from "../../pipeline/selection/query.ts";
import { allHeaders, type Headers } from "../http/answers.ts";
import { longestTarget } from "../http/path.ts";
import { headersOf, provisionalHeaders } from "./app.ts";
import { describeSelection, selectionAsked } from "./list-packages.ts";
import type { FolderSite } from "./node-site.ts";
import { catalogRoutes } from "./routes.ts";

/** A longer answer is put together piece by piece as the client takes it, and is never whole in memory. */
const pieceSize = 64 * 1024;
const mostRooms = 16;

/**
 * The JSON of selections, straight from Node's request: the same functions as behind the router decide and
 * describe, without the objects of the Fetch standard around them.
 */
export class ListAnswers {
  readonly #site: FolderSite;
  readonly #address: string;
  readonly #headers: Headers;
  /** To be used again: memory that is let go comes back late. */
  readonly #rooms: Buffer[] = [];

  constructor(site: FolderSite) {
    const route = catalogRoutes.find(({ operations }) => operations.GET === "listPackages");
    if (!route) throw new Error("no route lists packages");
    this.#site = site;
    this.#address = `${site.base}${route.path}?`;
    this.#headers = { ...headersOf(route), ...provisionalHeaders(site) };
  }

  /** @returns whether the request is answered here; every other one is the router's */
  send(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
    const { method, url = "", headers } = incoming;
    if (!url.startsWith(this.#address) || (method !== "GET" && method !== "HEAD")) return false;
    if (url.length > longestTarget || url.includes("#")) return false;
    const parameters = parametersOf(url, this.#address.length);
    const query = selectionAsked(parameters, headers.accept ?? null, (path) =>
      this.#site.isFile(path, headers["accept-encoding"] ?? null),
    );
    if (!query) return false;
    this.#answer(query, incoming, outgoing).catch((error) => outgoing.destroy(error));
    return true;
  }

  async #answer(query: ListQuery, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const list = this.#site.packages;
    const asked = incoming.headers["if-none-match"] ?? null;
    const { status, headers, positions, length } = await describeSelection(list, query, asked, this.#headers);
    outgoing.writeHead(status, allHeaders(headers, positions ? length : undefined));
    if (!positions || incoming.method === "HEAD") outgoing.end();
    else if (length <= pieceSize) outgoing.end(list.texts.array(positions, Buffer.allocUnsafe(length)));
    else await this.#sendPieces(positions, outgoing);
  }

  async #sendPieces(positions: readonly number[], outgoing: ServerResponse): Promise<void> {
    const room = this.#rooms.pop() ?? Buffer.allocUnsafeSlow(pieceSize);
    for (const piece of this.#site.packages.texts.pieces(positions, room)) await written(piece, outgoing);
    outgoing.end();
    if (this.#rooms.length < mostRooms) this.#rooms.push(room);
  }
}

const written = (piece: Uint8Array, outgoing: ServerResponse): Promise<void> =>
  new Promise((resolve, reject) => {
    outgoing.write(piece, (error) => (error ? reject(error) : resolve()));
  });

/** What `URLSearchParams` reads; most queries have nothing to decode. */
export function parametersOf(url: string, start: number): Iterable<[string, string]> {
  const search = url.slice(start);
  if (/[^\w.,:=&-]/.test(search)) return new URL(url, "http://localhost").searchParams;
  const parameters: [string, string][] = [];
  for (const part of search.split("&")) {
    const equals = part.indexOf("=");
    if (equals >= 0) parameters.push([part.slice(0, equals), part.slice(equals + 1)]);
    else if (part !== "") parameters.push([part, ""]);
  }
  return parameters;
}
