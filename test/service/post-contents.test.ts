/** @module-tag long */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ingest } from "../../pipeline/index.ts";
import { client, hex, image, json, type Releases } from "../support/catalog.ts";
import { temporaryFolder } from "../support/run.ts";
import { readTree } from "../support/tree.ts";
import { ask, threeRecords } from "./origin.ts";
import { answerOf, open, openCatalog, posted, record, rpm, servePosts } from "./posting.ts";

const manifests = ({ folder }: Releases, version = open) =>
  readdirSync(join(folder, version, "manifests")).sort();
const textOf = ({ folder }: Releases, name: string, version = open) =>
  readFileSync(join(folder, version, "manifests", name), "utf8");

describe("a manifest", () => {
  test("is stored with the bytes and the name that ingest would give it", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    const body = posted(
      { sha256: hex("3"), package_type: "deb", name: "tool.deb", max_os_version: "20.04" },
      image({ name: "image.qcow2", attestation: undefined }),
      rpm("core.rpm", "4", { headless: true }),
    );
    const input = join(temporaryFolder(), "finished.json");
    writeFileSync(input, json(body));
    const environment = {
      environment: {},
      clock: 0,
      onProgress: () => {},
      pid: process.pid,
      onWait: () => {},
    };
    const { ingested } = await ingest(
      catalog.folder,
      { inputs: [input], job: "post" },
      { kind: "caller" },
      environment,
    );
    expect((await post(body)).status).toBe(201);
    expect(manifests(catalog)).toEqual([ingested.fileName]);
    expect(textOf(catalog, ingested.fileName)).toBe(ingested.text);
    expect(await catalog.problems()).toEqual([]);
  });

  test("is answered with its records as they would be published, without ids until it is cut", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    const body = posted(rpm("b.rpm"), rpm("a.rpm", "b", { exclude_from_api: true }));
    const first = await post(body);
    const dates = {
      created_date: "2026-03-15T00:00:00.000000Z",
      modified_date: "2026-03-15T00:00:00.000000Z",
    };
    expect([first.status, JSON.parse(first.text)]).toMatchObject([
      201,
      [
        { id: null, name: "a.rpm", version: open, exclude_from_api: true, ...dates },
        { id: null, name: "b.rpm", version: open, checksum: hex("a"), ...dates },
      ],
    ]);
    const again = await post(JSON.stringify(body, null, 4));
    expect([again.status, again.text]).toEqual([200, first.text]);
    await catalog.cut({}, "2026-03-21T10:00:00Z");
    await catalog.build();
    const cut = await post(body);
    expect([cut.status, JSON.parse(cut.text).map(({ id }: { id: number }) => id)]).toEqual([200, [1, 2]]);
    const published = JSON.parse(catalog.read("../dist/api/v1/package/2/index.json"));
    expect(JSON.parse(cut.text)[1]).toEqual(published);
  });

  test("can be replaced until it is cut", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    const said = (description: string) => posted(rpm("a.rpm", "a", { description }));
    expect((await post(said("one"))).status).toBe(201);
    expect((await post(posted(rpm("a.rpm", "b")))).status).toBe(201);
    expect((await post(said("two"))).status).toBe(201);
    expect(manifests(catalog)).toHaveLength(1);
    await catalog.cut();
    expect((await post(said("two"))).status).toBe(200);
    expect((await post(said("three"))).status).toBe(409);
    expect((await catalog.load()).identified.pending).toEqual([]);
  });

  test("changes neither the served site nor the ledger", async () => {
    const catalog = await threeRecords();
    catalog.write({ [`${open}/release.yaml`]: { version: open, date: "2026-03-15" } });
    const { post, url } = await servePosts(catalog, { site: catalog.out });
    const state = async () => [
      readTree(catalog.out),
      catalog.read("ledger.jsonl"),
      (await ask(url, "/api/v1/package/")).text,
    ];
    const before = await state();
    expect((await post(posted(rpm("seen.rpm")))).status).toBe(201);
    expect(await state()).toEqual(before);
  });

  test("gets all errors at once, by field", async () => {
    const catalog = openCatalog();
    catalog.write({ "catalog.yaml": "{}\n" });
    const { post } = await servePosts(catalog);
    const bad = posted(
      client({ name: "a.deb", min_os_version: undefined, size: "1" }),
      client({ nmae: "x", attestation: { key_id: "x", sha256: "y" } }),
    );
    expect(answerOf(await post(bad))).toEqual({
      status: 400,
      "artifacts.0.size": ['artifacts[0].size is "1", expected a whole number of bytes.'],
      "artifacts.1.attestation.sha256": [
        'artifacts[1].attestation.sha256 is "y", expected 64 lowercase hexadecimal characters.',
      ],
      "artifacts.1.nmae": ['the key "nmae" is not known in artifacts[1]. Did you mean name?'],
    });
    const wrong = posted(
      client({ name: "z-26.08.001.deb", max_os_version: "24.04" }),
      image({ name: "i.qcow2", vendor: undefined, store: { path: "/tmp/x" } }),
      rpm("r.rpm", "c", { attestation: { sha256: hex("d"), key_id: "nope" }, platform: 3 }),
      rpm("u.rpm", "c", { package_type: "unheard-of" }),
    );
    const { status, ...fields } = answerOf(await post(wrong));
    expect(status).toBe(400);
    expect(Object.keys(fields).sort()).toEqual([
      "artifacts.0.max_os_version",
      "artifacts.0.name",
      "artifacts.1",
      "artifacts.2.attestation.key_id",
      "artifacts.2.attestation.sha256",
      "artifacts.2.platform",
      "artifacts.3.package_type",
    ]);
    expect(fields["artifacts.1"]).toEqual([
      "no input says which source revision i.qcow2 was built from. State it as vendor.rev, or take image out of require.vendor in catalog.yaml.",
    ]);
    expect(readdirSync(join(catalog.folder, open))).toEqual(["release.yaml"]);
  });

  test.each([
    [posted(), { artifacts: ["This list may not be empty."] }],
    [{ release: open }, { artifacts: ["This field is required."] }],
    [{ artifacts: [] }, { release: ["This field is required."] }],
    [
      { release: "26.04.001", artifacts: [rpm("a.rpm")] },
      { release: ["There is no release 26.04.001. It is opened with relcat new 26.04."] },
    ],
    [
      { release: "../26.03.001", artifacts: [] },
      { release: [expect.stringMatching(/expected a version YY\.MM\.NNN/)] },
    ],
    [
      posted(rpm("a.rpm"), rpm("a.rpm", "b")),
      {
        "artifacts.1": expect.arrayContaining([
          expect.stringMatching(/^SHA-256 of a\.rpm is b+ here, but a+ /),
        ]),
      },
    ],
    [
      posted(rpm("a.rpm"), rpm("A.rpm")),
      { "artifacts.0": [expect.stringMatching(/differs from "A\.rpm" .* only in case/)] },
    ],
    [posted(rpm("..")), { "artifacts.0.name": [expect.anything()] }],
    [posted(rpm("a/../b.rpm")), { "artifacts.0.name": [expect.anything()] }],
  ])("is refused as %j", async (body, fields) => {
    const { post } = await servePosts(openCatalog());
    expect(answerOf(await post(body))).toMatchObject({ status: 400, ...fields });
  });

  test("stores a repeated artifact once", async () => {
    const { post } = await servePosts(openCatalog());
    expect(JSON.parse((await post(posted(rpm("a.rpm"), rpm("a.rpm")))).text)).toHaveLength(1);
  });
});

describe("one record", () => {
  test("with all 14 fields under their names in the catalog is published unchanged", async () => {
    const catalog = openCatalog();
    catalog.write({ "catalog.yaml": { require: {}, wire: { vendor: "acme", cryptolib_post: "post" } } });
    const { post } = await servePosts(catalog);
    const { store, vendor } = image();
    const body = {
      ...record("i.qcow2", {
        package_type: "qcow",
        description: "An image.",
        gui_only: false,
        headless: false,
      }),
      ...{ operating_system: "Linux", platform: 11, min_os_version: null, max_os_version: null },
      ...{ exclude_from_api: false, only_for_account: null },
      data: { store, acme: vendor, attestation: { post: { expected_hash: hex("E") } } },
    };
    const answer = await post(body);
    const published = JSON.parse(answer.text);
    expect(answer.headers["x-ignored-fields"]).toBeUndefined();
    expect(published).toMatchObject(body);
  });

  test("names ignored fields in a header, up to a bound", async () => {
    const { post } = await servePosts(openCatalog());
    const ignored = { id: 9, created_date: "x", modified_date: 1, "a\r\nb": 1, ü: 1 };
    expect((await post(record("a.rpm", ignored))).headers["x-ignored-fields"]).toBe(
      "id, created_date, modified_date, a%0D%0Ab, %C3%BC",
    );
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`unknown${index}`, index]));
    const named = String((await post(record("a.rpm", many))).headers["x-ignored-fields"]);
    expect(named).toMatch(/^unknown0, unknown1, /);
    expect(named.length).toBeLessThanOrEqual(1024);
  });

  test("gets errors under its own field names", async () => {
    const catalog = openCatalog();
    catalog.write({ "catalog.yaml": { wire: { vendor: "acme", cryptolib_post: "post" } } });
    const { post } = await servePosts(catalog);
    const fields = async (changes: object) => {
      const { status, ...rest } = answerOf(await post(record("a.rpm", changes)));
      return [status, ...Object.keys(rest)];
    };
    expect(await fields({ package_type: "nonsense" })).toEqual([400, "package_type"]);
    expect(await fields({ checksum: "unknown" })).toEqual([400, "checksum"]);
    expect(await fields({ version: "26.05.001" })).toEqual([400, "version"]);
    expect(await fields({ data: { extra: 1, attestation: { cryptolib_post: {} } } })).toEqual([
      400,
      "data.extra",
      "data.attestation.cryptolib_post",
    ]);
    const attestation = {
      sha256: hex("b"),
      post: { expected_hash_per_arch: { arm64: hex("A"), x86_64: hex("B") } },
    };
    expect(await fields({ data: { acme: {}, attestation }, platform: 3 })).toEqual([
      400,
      "platform",
      "data.acme",
      "data.attestation.sha256",
      "data.attestation.post.expected_hash_per_arch",
      "data.attestation.post",
    ]);
    const bounds = { min_os_version: "22.04", max_os_version: "24.04" };
    expect(await fields({ package_type: "deb", ...bounds })).toEqual([400, "max_os_version"]);
    expect(await fields({ name: "a-26.08.001.rpm" })).toEqual([400, "name"]);
  });
});
