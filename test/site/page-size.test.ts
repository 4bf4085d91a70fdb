import { expect, test } from "vitest";
import { artifactsPerRelease } from "../../bench/build/artifacts.ts";
import { releaseFiles } from "../../bench/build/catalog.ts";
import { type Files, project } from "../support/project.ts";
import { readTree } from "../support/tree.ts";

const head = "product: Northgate Controller\nbase_url: https://downloads.example.com\nrequire: {}\n";
const feeds =
  'feeds: { apt: { suites: { focal: "20.04", jammy: "22.04" } }, yum: {}, helm: { oci: true } }\n';
const maxBytes = 100_000;

async function pagesOf(files: Files): Promise<Map<string, string>> {
  const made = project(files);
  await made.succeed("build");
  const pages = [...readTree(`${made.folder}/dist`)].filter(([path]) => path.endsWith(".html"));
  return new Map(pages.map(([path, bytes]) => [path, bytes.toString()]));
}

const tooLarge = (pages: Map<string, string>) =>
  [...pages]
    .map(([path, html]) => [path, Buffer.byteLength(html)] as const)
    .filter(([, size]) => size > maxBytes);

test("no page has over 100 KB, and each file has lines that verify it", async () => {
  const versions = ["26.08.001", "26.08.002", "26.08.003", "26.08.004", "26.08.005"];
  const pages = await pagesOf(
    Object.assign(
      { "releases/catalog.yaml": head },
      ...versions.map((version) => releaseFiles(version, false)),
    ),
  );
  expect(pages.size).toBeGreaterThan(2 * versions.length);
  expect(tooLarge(pages)).toEqual([]);
  for (const version of versions) {
    const html = pages.get(`releases/${version}/index.html`) ?? "";
    expect(html).toContain(`${artifactsPerRelease} artifacts`);
    expect(html.match(/Verify the download</g)).toHaveLength(artifactsPerRelease);
    expect(html).not.toContain("Verify the downloads");
  }
});

test("a page that lines of feeds would make too large verifies all files together, and keeps those lines", async () => {
  const version = "26.08.001";
  const pages = await pagesOf({ "releases/catalog.yaml": head + feeds, ...releaseFiles(version, true) });
  expect(tooLarge(pages)).toEqual([]);
  const html = pages.get(`releases/${version}/index.html`) ?? "";
  expect(html).toContain("Verify the downloads");
  expect(html).not.toContain("Verify the download<");
  expect(html).toContain("sudo apt-get install northgate-client-core");
});

const version = "26.08.001";

/** Pages of one release that has more artifacts than the usual ones. */
async function pagesWith(extra: number): Promise<Map<string, string>> {
  const more = Array.from({ length: extra }, (_, index) => `client-${index}_${version}.deb`);
  const files = releaseFiles(version, false);
  const [path = "", text = ""] =
    Object.entries(files).find(([name]) => name.endsWith("deb-core-2204.json")) ?? [];
  const manifest = JSON.parse(String(text));
  const [deb] = manifest.artifacts;
  const artifacts = more.map((name, index) => ({
    ...deb,
    name,
    sha256: index.toString(16).padStart(64, "0"),
    attestation: { ...deb.attestation, sha256: index.toString(16).padStart(64, "0") },
  }));
  return pagesOf({
    "releases/catalog.yaml": head,
    ...files,
    [path]: JSON.stringify({ ...manifest, artifacts: [deb, ...artifacts] }),
  });
}

test.each([
  [12, "the lines that install", /<dt>Signed by</],
  [65, "all details but the checksum and the link to the record", /<dt>SHA-256</],
])("a release of %i more artifacts also leaves out %s, and stays below 100 KB", async (extra, _, kept) => {
  const pages = await pagesWith(extra);
  expect(tooLarge(pages)).toEqual([]);
  const html = pages.get(`releases/${version}/index.html`) ?? "";
  expect(html).toContain(`${artifactsPerRelease + extra} artifacts`);
  expect(html).toMatch(kept);
  expect(html.includes("<dt>History<")).toBe(extra < 65);
  expect(html).toContain(
    `curl -fsSLO https://downloads.example.com/releases/${version}/SHA256SUMS\nsha256sum -c --ignore-missing SHA256SUMS`,
  );
  expect(html).not.toContain("Verify the download<");
  expect(html).not.toContain('<details class="install"');
  expect(html.match(/data-copy="?SHA-256/g)).toHaveLength(artifactsPerRelease + extra);
  expect(html.match(/as JSON</g)).toHaveLength(artifactsPerRelease + extra);
});
