import { beforeAll, describe, expect, test } from "vitest";
import { contracts } from "../../controller/server/contracts.ts";
import { type ControllerOperation, controllerRoutes } from "../../controller/server/routes.ts";
import { type Asker, askers, fromElsewhere, proxied } from "./access-principals.ts";
import { type Person, type Row, table } from "./access-table.ts";
import { type TestController, testController } from "./support.ts";

/** Operations without credentials; everything added here is open to the whole network. */
const openToAll = ["enrollDevice", "health", "login", "makeNonce", "readDocs", "readOpenApi"];

const prefixes = ["/-net/api/v0", "/-net/api/latest", "/latest"];
const operations = Object.keys(table) as ControllerOperation[];

let controller: TestController;
let everybody: Asker[];
beforeAll(async () => {
  controller = await testController({ serve: proxied });
  everybody = await askers(controller);
});

describe("the table of rights", () => {
  const routed = controllerRoutes.flatMap((route) =>
    Object.entries(route.operations).map(([method, operation]) => ({ operation, method, path: route.path })),
  );

  test("has a row for each operation of the routes, and no other", () => {
    expect(operations.toSorted()).toEqual(routed.map(({ operation }) => operation).toSorted());
  });

  test.each(routed)("has the address of $operation", ({ operation, method, path }) => {
    const [asked, address] = table[operation].ask;
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+").replace(/\/$/, "")}$`);
    expect([asked, address.split("?")[0]]).toEqual([method, expect.stringMatching(pattern)]);
  });

  test("opens only the listed operations to everyone", () => {
    const open = operations.filter((operation) => "anyone" in table[operation]);
    expect(open.toSorted()).toEqual(openToAll);
    const declared = operations.filter((operation) => contracts[operation].access === "anyone");
    expect(declared.toSorted()).toEqual(openToAll);
  });
});

describe.each(operations)("%s", (operation) => {
  const row = table[operation];
  test.each(prefixes)("below %s answers each caller according to their rights", async (prefix) => {
    const expected: Record<string, number> = {};
    const answered: Record<string, number> = {};
    for (const asker of everybody) {
      expected[asker.name] = verdict(row, asker, prefix);
      answered[asker.name] = await ask(prefix, row, asker);
    }
    expect(answered).toEqual(expected);
  });
});

function verdict(row: (typeof table)[ControllerOperation], asker: Asker, prefix: string): number {
  if ("anyone" in row) return row.status;
  if (asker.kind === "nobody" || asker.kind === "former") return 401;
  return mayAsk(row, asker, prefix) ? row.status : 403;
}

function mayAsk({ key, people, token }: Row, asker: Exclude<Asker, { kind: "former" }>, prefix: string) {
  if (asker.kind === "nobody") return false;
  if (asker.kind === "session") return people.includes(asker.of);
  if (asker.kind === "key") return key === "any key" || (asker.scopes as readonly string[]).includes(key);
  if (prefix === "/-net/api/v0" || token === "none") return false;
  if (token === "all") return true;
  const limited = (person: Person) => person.startsWith("authz_");
  return asker.of === "LimitedAdministrator" ? people.some(limited) : people.includes(asker.of);
}

/** @returns the status; a stream is not read, because it has no end */
async function ask(prefix: string, { ask: [method, path, body] }: Pick<Row, "ask">, asker: Asker) {
  const abort = new AbortController();
  const response = await fetch(`${controller.url}${prefix}${path}`, {
    method,
    signal: abort.signal,
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(asker.kind === "former" && fromElsewhere()),
      ...asker.headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const isStream = response.headers.get("content-type") === "text/event-stream";
  if (isStream) abort.abort();
  else await response.arrayBuffer();
  return response.status;
}
