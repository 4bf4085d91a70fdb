import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { artifact, cutCatalog, type Project, project, release, smallCatalog } from "../support/project.ts";
import { serve } from "../support/serve.ts";
import { readTree } from "../support/tree.ts";
import { edited, essence, october, planOf, writeAll } from "./planning.ts";

const closing: (() => void)[] = [];
afterAll(() => {
  for (const close of closing) close();
});

type Live = Record<string, unknown>[];

async function built(made: Project): Promise<Project> {
  await made.succeed("build", "--out", "live");
  return made;
}

const listOf = (made: Project): Live => JSON.parse(made.read("live/api/v1/package/index.json"));

const against = (made: Project, path = "live") =>
  planOf(made, { against: join(made.folder, path), documents: true });

test("a built folder of the same content has no changes, documents included", async () => {
  const made = await built(await cutCatalog());
  const plan = await against(made);
  expect(essence(plan)).toEqual({});
  expect(plan.documents).toEqual({ added: [], changed: [], removed: [] });
  expect(plan.baseline).toEqual({
    kind: "live",
    name: join(made.folder, "live"),
    commit: null,
    records: 4,
    problems: 0,
  });
});

test("new, changed and withdrawn records since the build are listed, without git", async () => {
  const made = await built(await cutCatalog());
  writeAll(made, { ...october, ...edited({ description: "Better" }) });
  await made.succeed("retract", "3", "--reason", "Broken.", "--yes", "--now", "2026-09-25T10:00:00Z");
  const plan = await against(made);
  expect(essence(plan)).toMatchObject({
    added: [{ id: 6 }, { id: 8 }],
    changed: [{ id: 1, fields: [{ field: "description", from: "Windows installer", to: "Better" }] }],
    revised: [{ id: 1 }],
    retracted: [{ id: 3, reason: "Broken." }],
  });
  expect(plan.documents?.removed).toEqual(["api/v1/package/3/index.json"]);
});

test("a file with only the list is compared without documents, and the plan says so", async () => {
  const made = await built(await cutCatalog());
  writeAll(made, edited({ description: "Better" }));
  made.write("list.json", made.read("live/api/v1/package/index.json"));
  expect(await planOf(made, { against: join(made.folder, "list.json") })).toMatchObject({
    changed: [{ id: 1 }],
    documents: null,
  });
  const { stdout } = await made.run("plan", "--against", "list.json");
  expect(stdout.split("\n").slice(0, 2)).toEqual([
    "Compared with list.json: 4 records.",
    "list.json has no build.json that can be read: its documents are not compared.",
  ]);
});

describe("--against accepts an address", () => {
  test("on a plain file host, below a path, with or without the list's path", async () => {
    const made = await built(await cutCatalog());
    const { url, server } = await serve(readTree(join(made.folder, "live")), "/some/base/");
    closing.push(() => server.close());
    for (const address of [url, url.slice(0, -1), `${url}api/v1/package/?format=api`]) {
      const plan = await planOf(made, { against: address, documents: true });
      expect(plan.baseline).toMatchObject({ kind: "live", name: url, records: 4 });
      expect(essence(plan)).toEqual({});
      expect(plan.documents).toEqual({ added: [], changed: [], removed: [] });
    }
  });

  test("with another program's catalog, without build.json", async () => {
    const made = await built(await cutCatalog());
    const server = createServer((request, response) => {
      const isList =
        request.url === "/api/v1/package/" && request.headers.accept?.startsWith("application/json");
      response.writeHead(isList ? 200 : 404).end(isList ? made.read("live/api/v1/package/index.json") : "no");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => server.close());
    const plan = await planOf(made, {
      against: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      documents: true,
    });
    expect(plan.documents).toBeNull();
    expect(essence(plan)).toEqual({});
  });

  test("except unreadable ones and those with a password", async () => {
    const made = await cutCatalog();
    const refused = await made.run("plan", "--against", "https://me:secret@example.com/");
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr).toBe(
      "error[usage] the address given with --against has credentials in it\n" +
        "  hint: Give a plain address such as https://downloads.example.com; a list that needs a login can be saved and given as a file.",
    );
  });
});

describe("other key names", () => {
  const rev = "a".repeat(40);
  const image = artifact("image.qcow2", "qcow", "a", {
    vendor: { rev },
    attestation: { cryptolib_post: { expected_hash: "A".repeat(64) } },
  });
  const files = { ...smallCatalog, ...release("26.10.001", [image]) };
  const inTheirWords = (text: string) =>
    text.replaceAll('"vendor"', '"acme"').replaceAll('"cryptolib_post"', '"cryptix_post"');

  async function live(): Promise<Project> {
    const made = project(files);
    await made.succeed("cut", "--all", "--now", "2026-09-20T10:00:00Z");
    await built(made);
    made.write("list.json", inTheirWords(made.read("live/api/v1/package/index.json")));
    return made;
  }

  test("are one line instead of every record if nothing else differs", async () => {
    const made = await live();
    const plan = await planOf(made, { against: join(made.folder, "list.json") });
    expect(essence(plan)).toEqual({
      renamed: [
        { from: "acme", to: "vendor", records: 1 },
        { from: "cryptix_post", to: "cryptolib_post", records: 1 },
      ],
    });
    const { stdout } = await made.run("plan", "--against", "list.json");
    expect(stdout).toContain(
      "\n1 record of list.json only uses other key names inside data (acme → vendor, cryptix_post → cryptolib_post): nothing else differs in them.\n",
    );
  });

  test("are shown under our names if there are other changes", async () => {
    const made = await live();
    writeAll(made, release("26.10.001", [{ ...image, vendor: { rev: "b".repeat(40) } }]));
    expect(await planOf(made, { against: join(made.folder, "list.json") })).toMatchObject({
      changed: [
        { name: "image.qcow2", fields: [{ field: "data.vendor.rev", from: rev, to: "b".repeat(40) }] },
      ],
      renamed: [{ from: "acme" }, { from: "cryptix_post" }],
    });
  });

  test("are no difference if catalog.yaml has them", async () => {
    const made = await live();
    made.write("releases/catalog.yaml", {
      product: "Example",
      require: {},
      wire: { vendor: "acme", cryptolib_post: "cryptix_post" },
    });
    const plan = await planOf(made, { against: join(made.folder, "list.json") });
    expect(plan).toMatchObject({ renamed: [], changed: [] });
  });
});

describe("a live record that is missing here", () => {
  const unknown = (id: number, rest: object = {}) => ({
    ...({
      id,
      name: "other.msi",
      version: "26.07.001",
      package_type: "msi",
      checksum: "9".repeat(64),
    } as object),
    ...rest,
  });

  test("would be removed, which is forbidden", async () => {
    const made = await built(await cutCatalog());
    made.write("list.json", [...listOf(made), unknown(77)]);
    expect(await planOf(made, { against: join(made.folder, "list.json") })).toMatchObject({
      removed: [{ id: 77, file: null, forbidden: true }],
      forbidden: [
        {
          code: "record-vanished",
          message: `${join(made.folder, "list.json")} has "other.msi" of 26.07.001 as id 77, but no manifest names it`,
          hint: "The local ledger lacks published lines: merge the branch that published it, or import it (relcat import).",
        },
      ],
    });
  });

  test("has an id that would be assigned here", async () => {
    const made = await built(await cutCatalog());
    made.write("list.json", [...listOf(made), unknown(6)]);
    writeAll(made, october);
    const { forbidden } = await planOf(made, { against: join(made.folder, "list.json") });
    expect(forbidden).toMatchObject([
      {
        code: "id-taken",
        message: `the id 6 would be assigned to "tool-26.10.001.msi" of 26.10.001 here, but ${join(made.folder, "list.json")} uses it for another file`,
      },
    ]);
  });

  test("has an id of another version here", async () => {
    const made = await built(await cutCatalog());
    made.write("list.json", [...listOf(made).filter(({ id }) => id !== 1), unknown(1)]);
    const { forbidden } = await planOf(made, { against: join(made.folder, "list.json") });
    expect(forbidden).toMatchObject([
      {
        code: "id-taken",
        message: `the id 1 is that of "tool-26.08.001.msi" of 26.08.001 here, but ${join(made.folder, "list.json")} uses it for another file`,
      },
    ]);
  });

  test("has other bytes under an id of this ledger", async () => {
    const made = await built(await cutCatalog());
    made.write(
      "list.json",
      listOf(made).map((record) => (record.id === 1 ? { ...record, checksum: "e".repeat(64) } : record)),
    );
    const { forbidden } = await planOf(made, { against: join(made.folder, "list.json") });
    expect(forbidden).toMatchObject([
      {
        code: "bytes-changed",
        message: expect.stringContaining(`checksum ${"e".repeat(64)} → ${"1".repeat(64)}`),
      },
    ]);
  });

  test("is private here from the start", async () => {
    const made = await built(await cutCatalog());
    made.write("list.json", [...listOf(made), unknown(4)]);
    const { forbidden } = await planOf(made, { against: join(made.folder, "list.json") });
    expect(forbidden).toMatchObject([
      { code: "record-private", message: '"other.msi" is public as id 4 and cannot become private' },
    ]);
  });

  test("can be removed and changed if it was only provisional", async () => {
    const made = await cutCatalog();
    writeAll(made, october);
    await built(made);
    writeAll(made, release("26.10.001", [artifact("tool-26.10.001.msi", "msi", "b")]));
    const plan = await against(made);
    expect(plan.forbidden).toEqual([]);
    expect(plan.removed).toMatchObject([{ id: 8, forbidden: false }]);
    expect(plan.changed).toMatchObject([{ id: 6, ledger: "planned" }]);
  });
});
