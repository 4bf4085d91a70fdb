/** @module-tag long */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Releases } from "../support/catalog.ts";
import { serveFolder, threeRecords } from "./origin.ts";
import { answerOf, open, openCatalog, posted, postTo, record, rpm, servePosts } from "./posting.ts";

const manifests = ({ folder }: Releases, version = open) =>
  readdirSync(join(folder, version, "manifests")).sort();

describe("a conflict names both sides and stores nothing", () => {
  const published = "26.01.001";
  const of = (...artifacts: object[]) => ({ release: published, artifacts });

  test.each([
    [
      "other bytes",
      rpm("alpha.rpm", "b"),
      /^"alpha\.rpm" is published as id 1 and cannot change: checksum 1{64} → b{64}\. .*relcat new 26\.01/,
    ],
    ["another type", { ...rpm("alpha.rpm", "1"), package_type: "msi" }, /package_type rpm → msi/],
    [
      "hiding",
      rpm("alpha.rpm", "1", { exclude_from_api: true }),
      /^"alpha\.rpm" is public as id 1 and cannot become private\. .*relcat retract 1/,
    ],
  ])("with the ledger: %s", async (_, artifact, message) => {
    const catalog = await threeRecords();
    const { post } = await servePosts(catalog);
    const { status, detail, conflicts } = answerOf(await post(of(artifact)));
    expect({ status, detail }).toEqual({
      status: 409,
      detail: expect.stringMatching(/There are 2 conflicts in all\.$/),
    });
    expect(conflicts).toContainEqual(expect.stringMatching(message));
    expect(conflicts).toContainEqual(
      expect.stringMatching(
        /^"alpha\.rpm" is described differently in releases\/26\.01\.001\/manifests\/all\.json:\d+: /,
      ),
    );
    expect(manifests(catalog, published)).toEqual(["all.json"]);
  });

  test("with the ledger only, if the manifest was deleted", async () => {
    const catalog = await threeRecords();
    catalog.write({ [`${published}/manifests/all.json`]: undefined });
    const { post } = await servePosts(catalog);
    const { status, conflicts } = answerOf(await post(of(rpm("alpha.rpm", "b"), rpm("new.rpm"))));
    expect([status, conflicts.length]).toEqual([409, 1]);
    expect((await post(of(rpm("alpha.rpm", "1"), rpm("gamma.rpm", "2")))).status).toBe(409);
  });

  test("with another manifest, in its bytes or in the case of its name", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    expect((await post(posted(rpm("a.rpm"), rpm("b.rpm")))).status).toBe(201);
    const [stored] = manifests(catalog);
    expect(answerOf(await post(posted(rpm("a.rpm", "b"), rpm("B.RPM"), rpm("c.rpm"))))).toEqual({
      status: 409,
      detail: expect.stringMatching(`releases/${open}/manifests/${stored}:\\d+`),
      conflicts: [
        expect.stringMatching(/^"a\.rpm" is described differently in /),
        expect.stringMatching(
          `^releases/.*${stored}:\\d+: the file "b\\.rpm" differs from "B\\.RPM" \\(the posted manifest`,
        ),
      ],
    });
    expect(manifests(catalog)).toEqual([stored]);
    // The same claim from two jobs is one artifact.
    expect((await post(posted(rpm("a.rpm"), rpm("c.rpm")))).status).toBe(201);
    expect(await catalog.problems()).toEqual([]);
  });

  test("with a manifest of the same name and other content", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    await post(posted(rpm("a.rpm")));
    const [stored = ""] = manifests(catalog);
    catalog.write({ [`${open}/manifests/${stored}`]: posted(rpm("a.rpm"), rpm("by-hand.rpm")) });
    expect(answerOf(await post(posted(rpm("a.rpm"))))).toMatchObject({
      status: 409,
      conflicts: [`releases/${open}/manifests/${stored} has the same name, but holds "by-hand.rpm".`],
    });
  });
});

describe("a client that posts gets no errors of the catalog for", () => {
  test.each([
    ["a configuration", { "catalog.yaml": "prodcut: x\n" }],
    ["a ledger", { "ledger.jsonl": "<<<<<<< ours\n" }],
  ])("%s that cannot be read", async (_, files) => {
    const catalog = openCatalog();
    catalog.write(files);
    const { post, said } = await servePosts(catalog);
    expect(answerOf(await post(posted(rpm("a.rpm"))))).toEqual({
      status: 503,
      detail: "The catalog's own files must be repaired first; the server's log has the details.",
    });
    expect(said).toHaveLength(1);
  });

  test("problems of the release's other files", async () => {
    const catalog = openCatalog();
    catalog.write({ [`${open}/manifests/broken.json`]: "{", [`${open}/release.yaml`]: undefined });
    const { post } = await servePosts(catalog);
    const answer = await post(posted(rpm("a.rpm")));
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([201, [{ created_date: null }]]);
  });
});

describe("a cut release", () => {
  const cut = "26.01.001";
  const way = "Open the next release with relcat new 26.01, and post it there.";
  test.each([
    ["as a manifest", { release: cut, artifacts: [rpm("new.rpm", "e")] }],
    ["as a record", record("new.rpm", { version: cut })],
  ])("accepts no new artifact, %s", async (_, body) => {
    const catalog = await threeRecords();
    const { post } = await servePosts(catalog);
    const ledger = catalog.read("ledger.jsonl");
    expect(answerOf(await post(body))).toEqual({
      status: 409,
      detail: `Release ${cut} is cut: "new.rpm" cannot be added or changed. ${way}`,
      conflicts: [`Release ${cut} is cut: "new.rpm" cannot be added or changed. ${way}`],
    });
    expect(manifests(catalog, cut)).toEqual(["all.json"]);
    expect(catalog.read("ledger.jsonl")).toBe(ledger);
  });
});

describe("metadata of packages", () => {
  const control = "Package: a\nVersion: 1\nArchitecture: amd64";
  const deb = (text?: string) =>
    rpm("a.deb", "a", {
      ...{ package_type: "deb", min_os_version: "22.04" },
      ...(text !== undefined && { package: { type: "deb", arch: "amd64", control: text } }),
    });

  test("is stored, is checked as in files, and stays if a later post lacks it", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    expect((await post(posted(deb(control)))).status).toBe(201);
    expect((await post(posted(deb()))).status).toBe(200);
    const [name = ""] = manifests(catalog);
    const stored = JSON.parse(catalog.read(`${open}/manifests/${name}`));
    expect(stored.artifacts[0].package.control).toBe(control);
    const refused = answerOf(await post(posted(deb(`${control}\nSHA256: x`))));
    expect([refused.status, JSON.stringify(refused)]).toEqual([
      400,
      expect.stringContaining("has the field SHA256, which only the index of a repository has"),
    ]);
  });

  test("may be added to a cut release, but not changed", async () => {
    const catalog = openCatalog();
    const { post } = await servePosts(catalog);
    await post(posted(deb()));
    await catalog.cut();
    expect((await post(posted(deb(control)))).status).toBe(201);
    const changed = answerOf(await post(posted(deb(`${control}\nDepends: b`))));
    expect(changed).toMatchObject({
      status: 409,
      detail: `Release ${open} is cut: package of "a.deb" cannot be changed.`,
    });
  });
});

test("POST is not allowed without a handler", async () => {
  const { url } = await serveFolder((await threeRecords()).out);
  expect(answerOf(await postTo(url, posted(rpm("a.rpm"))))).toEqual({
    status: 405,
    detail: 'Method "POST" not allowed.',
  });
});
