import { describe, expect, test } from "vitest";
import type { BuildDocument } from "../../pipeline/documents/site.ts";
import type { SiteStore } from "../../pipeline/documents/site-store.ts";
import { siteSettings } from "../../pipeline/documents/sites.ts";
import { readLedger } from "../../pipeline/ledger/ledger.ts";
import type { LocalBuild } from "../../pipeline/publish/local-build.ts";
import { refuseUnfitBuild } from "../../pipeline/publish/refusals.ts";
import { newArtifacts } from "../../pipeline/publish/require-artifacts.ts";

describe("publish refuses an address of the reader's own host", () => {
  const publish = (baseUrl: string, settles = true) => {
    const build: BuildDocument = { schema_version: 1, base_url: baseUrl, provisional: [], files: {} };
    refuseUnfitBuild(build, siteSettings("prod", { url: "dir:www", settles }, baseUrl));
  };
  const own = [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "catalog.localhost",
    "127.0.0.1",
    "127.1",
    "127.8.9.10",
  ];
  const odd = [
    "2130706433",
    "0x7f.1",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
  ];

  test.each([...own, ...odd])("%s", (host) => {
    for (const address of [`http://${host}`, `http://${host}:8080/catalog`])
      expect(() => publish(address)).toThrow("which is their own machine");
    expect(() => publish(`http://${host}`, false)).not.toThrow();
  });

  const others = [
    "example.com",
    "localhost.example.com",
    "mylocalhost",
    "127.example.com",
    "10.0.0.1",
    "example.com:99999",
    "[::2]",
  ];
  test.each([...others, "128.0.0.1", "[fd00::1]"])("publish accepts %s", (host) => {
    expect(() => publish(`https://${host}/catalog`)).not.toThrow();
  });
});

test("publish needs an artifact and its documents at the site, but not the provenance of a chart", async () => {
  const sum = "a".repeat(64);
  const part = (file: string) => ({ file, url: `https://example.com/files/${file}`, size: 1, sha256: sum });
  const documents = [
    { ...part("acme.tgz.prov"), format: "helm-prov" },
    { ...part("acme.tgz.minisig"), format: "minisign" },
  ];
  const release = {
    version: "26.09.001",
    packages: [{ id: 1, checksum: sum }],
    artifacts: { 1: { ...part("acme.tgz"), documents } },
  };
  const local = {
    files: [{ path: "api/v1/release/26.09.001/index.json", sha256: sum }],
    read: () => Buffer.from(JSON.stringify(release)),
  } as unknown as LocalBuild;
  const { ledger } = readLedger({ file: "ledger.jsonl", text: "" });
  const nothing = { index: undefined, published: undefined };
  const named = await newArtifacts({ store: {} as SiteStore, local, ledger }, nothing, false);
  expect(named.map(({ file }) => file)).toEqual(["acme.tgz", "acme.tgz.minisig"]);
});
