/** @module-tag long */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { recordFields } from "../../pipeline/documents/record-fields.ts";
import { filterFields } from "../../pipeline/selection/fields.ts";
import { readListQuery } from "../../pipeline/selection/query.ts";
import { select } from "../../pipeline/selection/select.ts";
import { catalogApp } from "../../service/catalog/app.ts";
import { type FolderSite, openFolderSite } from "../../service/catalog/node-watch.ts";
import { readPackageList } from "../../service/catalog/package-list.ts";
import { bytesOf } from "../../service/catalog/site.ts";
import { readRequest, send } from "../../service/http/node-request.ts";
import { wholeBody } from "../../service/http/request.ts";
import { plainRelease, releases } from "../support/catalog.ts";
import { often } from "../support/effort.ts";
import { type Answer, ask, type Question, serveFolder } from "./origin.ts";

const address = "/api/v1/package/";
const app = catalogApp();
let url: string;
let site: FolderSite;

beforeAll(async () => {
  const names = ["alpha.rpm", "bêta &.rpm", "gamma.rpm", "delta.msi"];
  const catalog = releases(plainRelease("26.01.001", names));
  catalog.write(plainRelease("26.02.001", names));
  catalog.write(plainRelease("26.02.002", ["a.rpm"]));
  await catalog.build();
  const newest = join(catalog.out, "api/v1/package/ordering=-id.json");
  writeFileSync(`${newest}.gz`, gzipSync(readFileSync(newest)));
  ({ url } = await serveFolder(catalog.out));
  site = await openFolderSite(catalog.out);
});

/** The origin's answer, without headers that Node adds. */
async function overTheWire(path: string, question: Question) {
  const { status, headers, bytes } = await ask(url, path, question);
  return described(status, headers, bytes);
}

function described(status: number, headers: Answer["headers"], bytes: Uint8Array) {
  const { date, connection, "keep-alive": _, ...own } = headers;
  return { status, headers: own, text: Buffer.from(bytes).toString("latin1") };
}

async function fromTheApp(path: string, { method = "GET", headers = {} }: Question) {
  const { pathname, search } = new URL(path, "http://localhost");
  const answer = await app(
    {
      method,
      target: pathname + search,
      header: (name) => headers[name] ?? null,
      read: async () => new Uint8Array(),
    },
    site,
  );
  const bytes = method === "HEAD" ? undefined : await wholeBody(answer);
  return described(answer.status, Object.fromEntries(new Headers(answer.headers)), bytes ?? new Uint8Array());
}

const texts = ["", "null", "true", "1", "rpm", "deb", "linux", "26.02.001", "26.02", "latest", "nothing"];
const odd = [
  "bêta &.rpm",
  "a+b",
  "a b",
  "%",
  "%zz",
  "%C3",
  "'\"<>",
  "\\",
  "é",
  "a=b",
  "a?b",
  "#",
  "{}|^`",
  "\t",
];
const value = fc.oneof(
  fc.constantFrom(...texts),
  fc.constantFrom(
    ...odd.map(encodeURIComponent),
    "%",
    "%zz",
    "%C3",
    "'\"<>",
    "\\",
    "a+b",
    "a=b",
    "a?b",
    "{}|^`",
  ),
);
const ordering = fc
  .array(fc.constantFrom(...recordFields, "pk", "-id", "-version", "-data", " name"), { maxLength: 4 })
  .map((terms) => encodeURIComponent(terms.join(",")).replaceAll("%2C", ","));
const parameter = fc.oneof(
  fc.tuple(fc.constantFrom(...filterFields), value),
  fc.tuple(fc.constant("ordering"), fc.oneof(ordering, fc.constant("-id"))),
  fc.tuple(fc.constantFrom("format", "strict", "line", "page", "__proto__", "%66ormat", "x y"), value),
  fc.tuple(fc.constant("format"), fc.constantFrom("json", "api", "yaml", "")),
);
const search = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: parameter.map((pair) => pair.join("=").replaceAll(" ", "%20")) },
      fc.constantFrom("", "name", "=", "=x", "&", "strict=1"),
    ),
    { maxLength: 5 },
  )
  .map((parts) => parts.join("&"));
const accept = fc.constantFrom(
  undefined,
  "*/*",
  "application/json",
  "text/html,*/*;q=0.8",
  "text/html;q=0.1, application/json;q=0.5",
  "image/png",
  "application/*",
);

const encoding = fc.constantFrom(undefined, "", "gzip", "br", "br, gzip;q=0.5", "gzip;q=0", "*");

describe("selections over the wire", () => {
  test("are equal to the answers of the handler", async () => {
    await fc.assert(
      fc.asyncProperty(
        search,
        accept,
        encoding,
        fc.constantFrom("GET", "HEAD"),
        async (query, accepted, encoded, method) => {
          const path = `${address}?${query}`;
          const headers: Record<string, string> = {
            ...(accepted !== undefined && { accept: accepted }),
            ...(encoded !== undefined && { "accept-encoding": encoded }),
          };
          const first = await overTheWire(path, { method, headers });
          expect(first).toEqual(await fromTheApp(path, { method, headers }));
          const known = { ...headers, "if-none-match": String(first.headers.etag) };
          expect(await overTheWire(path, { method, headers: known })).toEqual(
            await fromTheApp(path, { method, headers: known }),
          );
        },
      ),
      { numRuns: often(400, 80) },
    );
  });

  test.each(["a b", "a/b", "a@b", "a:99999", "1.2.3.4.5", "a?b"])(
    "are refused with the Host header %s",
    async (host) => {
      const headers = { host };
      expect((await ask(url, `${address}?package_type=rpm`, { headers })).status).toBe(400);
      expect((await ask(url, address)).status).toBe(200);
      expect((await ask(url, address, { headers })).status).toBe(400);
    },
  );

  test("reach many clients completely, while others disconnect", async () => {
    const record = (id: number) => ({
      id,
      version: "26.01.001",
      name: `ü${(id * 7919) % 2000}.rpm`,
      text: "é".repeat(id % 900),
    });
    const bytes = Buffer.from(JSON.stringify(Array.from({ length: 2000 }, (_, index) => record(index + 1))));
    const packages = readPackageList(bytes, "0".repeat(64));
    const long = { ...site, packages, list: async () => packages };
    const server = createServer(async (incoming, outgoing) => {
      const request = readRequest(incoming, "localhost");
      if (request) send(outgoing, await app(request, long));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const orders = ["name", "-name", "-version", "-text,name"];
    const askFor = async (ordering: string) => {
      const { headers, text } = await ask(`http://127.0.0.1:${port}`, `${address}?ordering=${ordering}`);
      expect(headers["content-length"]).toBe(`${Buffer.byteLength(text)}`);
      const query = readListQuery([["ordering", ordering]]);
      expect(text).toBe(Buffer.from(bytesOf(packages, select(packages.index, query))).toString());
    };
    const leave = () => {
      const socket = connect(port, "127.0.0.1", () =>
        socket.write(`GET ${address}?ordering=name HTTP/1.1\r\nHost: x\r\n\r\n`),
      );
      socket.once("data", () => socket.destroy());
    };
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 4 === 3 ? leave() : askFor(orders[index % 3] ?? ""))),
    );
    await askFor("name");
    server.close();
  });
});

test("an ignored parameter whose name would be cut inside a character is named", async () => {
  const name = `${"x".repeat(63)}\u{1F600}`;
  const { status, headers } = await ask(url, `${address}?${encodeURIComponent(name)}=1`);
  expect([status, headers["x-ignored-parameters"]]).toEqual([200, `${"x".repeat(63)}%EF%BF%BD`]);
});
