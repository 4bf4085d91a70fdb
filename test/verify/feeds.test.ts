import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import { beforeAll, describe, expect, test } from "vitest";
import type { BuildDocument, ReleaseDocument } from "../../pipeline/documents/site.ts";
import { feedContentFindings } from "../../pipeline/verify/feeds/feed-content.ts";
import { feedSite } from "../../pipeline/verify/feeds/feed-site.ts";
import { allFeeds, type FeedProject, packagesOf } from "../support/all-feeds.ts";
import { artifact } from "../support/project.ts";
import { lastingFolder, relcat, temporaryFolder } from "../support/run.ts";
import { readSiblings, readTree, type Tree } from "../support/tree.ts";
import { copyOf, hash, type Json } from "./support.ts";

const baseUrl = "https://downloads.example.com";
let made: FeedProject;
/** The site with one release, and with two. */
let first: string;
let second: Tree;

beforeAll(async () => {
  made = await allFeeds();
  await made.publish("26.08.001", packagesOf("1.0", "1234"));
  first = join(lastingFolder(), "first");
  cpSync(made.dist, first, { recursive: true });
  const unread = artifact("old-1.rpm", "rpm", "9", { size: 9 });
  const security = { notes: { server: { fix: [{ text: "CVE-2026-1234 is closed.", security: true }] } } };
  await made.publish("26.09.001", [...packagesOf("2.0", "5678"), unread], security);
  const { files } = JSON.parse(made.read("dist/build.json"));
  // Compressed indexes are files of the site.
  const indexes = [...readSiblings(made.dist)].filter(([path]) => Object.hasOwn(files, path));
  second = new Map([...readTree(made.dist), ...indexes]);
});

async function verify(place: string) {
  const { exitCode, stdout, stderr } = await relcat(made.folder, [
    ...["verify", place, "--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()],
  ]);
  return { exitCode, text: stdout + stderr };
}

test("a site with every feed is verified, and says why a record is in no index", async () => {
  expect(await verify(made.dist)).toMatchObject({ exitCode: 0 });
  const { feeds } = JSON.parse(String(second.get("api/v1/feeds.json")));
  const reason = "its manifest does not contain the metadata of the package";
  expect(feeds).toEqual(
    ["apt", "yum", "helm", "incus"].map((feed) => ({
      feed,
      left_out: feed === "yum" ? [{ id: 9, file: "old-1.rpm", reason }] : [],
    })),
  );
});

/** Files that clients read, of each feed. */
const read = [
  "dists/stable/InRelease",
  "dists/stable/Release.gpg",
  "dists/stable/main/binary-amd64/Packages",
  "dists/stable/main/binary-amd64/Packages.xz",
  "yum/stable.mirrorlist",
  "yum/stable/repodata/repomd.xml",
  "charts/index.yaml",
  "v2/charts/agent/tags/list",
  "streams/v1/index.json",
  "streams/v1/images.json",
];

describe("every file that clients read is named by verify if", () => {
  test("it was tampered with", async () => {
    const copy = copyOf(made.dist);
    for (const path of read) writeFileSync(join(copy, path), `${readFileSync(join(copy, path))} `);
    const { exitCode, text } = await verify(copy);
    expect(exitCode).toBe(6);
    for (const path of read) expect(text).toContain(`  ${path} is not what was signed`);
  });

  test("it is an older one that was signed, in one feed at a time", async () => {
    for (const path of read) {
      const copy = copyOf(made.dist);
      expect(readFileSync(join(copy, path))).not.toEqual(readFileSync(join(first, path)));
      cpSync(join(first, path), join(copy, path));
      const { exitCode, text } = await verify(copy);
      expect([path, exitCode === 0]).toEqual([path, false]);
      expect(text).toContain(`  ${path} is not what was signed`);
    }
  });
});

/** Findings for a site whose signed lists agree with these files. */
async function findingsOf(change: (files: Files) => void): Promise<string[]> {
  const tree = new Map(second);
  change({
    text: (path) => String(tree.get(path)),
    put: (path, bytes) => void tree.set(path, Buffer.from(bytes)),
    edit: (path, edit) => void tree.set(path, Buffer.from(edit(String(tree.get(path))))),
    json(path, edit) {
      const value = JSON.parse(String(tree.get(path)));
      edit(value);
      tree.set(path, Buffer.from(JSON.stringify(value)));
    },
    remove: (path) => void tree.delete(path),
  });
  const listed = Object.fromEntries(
    [...tree].map(([path, bytes]) => [path, { sha256: hash(bytes), size: bytes.length }]),
  );
  const json = (path: string) => JSON.parse(String(tree.get(path)));
  const versions = ["26.08.001", "26.09.001"];
  const releases = new Map<string, ReleaseDocument>(
    versions.map((version) => [version, json(`api/v1/release/${version}/index.json`)]),
  );
  const site = {
    place: "test",
    isRemote: false,
    read: async (path: string) => ({ status: 200, headers: {}, bytes: tree.get(path) ?? Buffer.of() }),
  };
  const documents = { listed, releases };
  const found = await feedContentFindings(feedSite(site, documents, json("build.json") as BuildDocument));
  return found.map(({ path, what }) => `${path} ${what}`);
}

interface Files {
  text(path: string): string;
  put(path: string, bytes: string | Uint8Array): void;
  edit(path: string, edit: (text: string) => string): void;
  json(path: string, edit: (value: Json) => void): void;
  remove(path: string): void;
}

const packages = "dists/stable/main/binary-amd64/Packages";
const other = "a".repeat(64);
const digits = (digit: string) => digit.repeat(64);
const primaryPath = () =>
  [...second.keys()].find((path) => /^yum\/stable\/.*-primary[.]xml[.]gz$/.test(path)) ?? "";
const updatesPath = () =>
  [...second.keys()].find((path) => /^yum\/stable\/.*-updateinfo[.]xml[.]gz$/.test(path)) ?? "";
const otherPath = () =>
  [...second.keys()].find((path) => /^yum\/stable\/.*-other[.]xml[.]gz$/.test(path)) ?? "";
const filelistsPath = () =>
  [...second.keys()].find((path) => /^yum\/stable\/.*-filelists[.]xml[.]gz$/.test(path)) ?? "";

/** Puts an index of apt, and what InRelease says of it. */
function putIndex(files: Files, path: string, bytes: Uint8Array): void {
  const name = path.slice("dists/stable/".length);
  files.put(path, bytes);
  files.put(path.replace(/[^/]*$/, `by-hash/SHA256/${hash(bytes)}`), bytes);
  files.edit("dists/stable/InRelease", (text) =>
    text.replace(
      new RegExp(`^ [0-9a-f]{64} \\d+ ${name.replaceAll(".", "[.]")}$`, "m"),
      ` ${hash(bytes)} ${bytes.length} ${name}`,
    ),
  );
}

function changePackages(files: Files, change: (text: string) => string): void {
  const bytes = Buffer.from(change(files.text(packages)));
  putIndex(files, packages, bytes);
  putIndex(files, `${packages}.gz`, gzipSync(bytes));
  putIndex(files, `${packages}.xz`, xz.compressSync(bytes));
}

/** Changes an index of yum, and what repomd.xml says of it. */
function changeYum(files: Files, type: string, path: string, change: (xml: string) => string): void {
  const xml = change(String(gunzipSync(second.get(path) ?? Buffer.of())));
  const packed = gzipSync(xml);
  files.put(path, packed);
  files.edit("yum/stable/repodata/repomd.xml", (text) =>
    text.replace(new RegExp(`<data type="${type}">[\\s\\S]*?</data>`), (data) =>
      data
        .replace(/(<checksum[^>]*>)[^<]*/, `$1${hash(packed)}`)
        .replace(/(<open-checksum[^>]*>)[^<]*/, `$1${hash(xml)}`)
        .replace(/(<size>)[^<]*/, `$1${packed.length}`)
        .replace(/(<open-size>)[^<]*/, `$1${xml.length}`),
    ),
  );
}

describe("a site that was signed but contradicts itself is refused if", () => {
  test("nothing was changed, it is not", async () => {
    expect(await findingsOf(() => {})).toEqual([]);
  });

  test("its yum index has the relative locations of an earlier version, it is not", async () => {
    const found = await findingsOf((files) =>
      changeYum(files, "primary", primaryPath(), (xml) => {
        const earlier = xml.replaceAll(`xml:base="${baseUrl}/" href="`, 'href="../../');
        expect(earlier).not.toBe(xml);
        return earlier;
      }),
    );
    expect(found).toEqual([]);
  });

  const rebuild = "; build, sign and publish again";
  test.each<[string, (files: Files) => void, (string | RegExp)[]]>([
    [
      "Release has another digest and size of Packages",
      ({ edit }) =>
        edit("dists/stable/InRelease", (text) =>
          text.replace(/ [0-9a-f]{64} (\d+) (main\/binary-amd64\/Packages)\n/, ` ${other} 1$1 $2\n`),
        ),
      [
        new RegExp(
          `^dists/stable/InRelease names ${packages} with the SHA-256 ${other}, expected [0-9a-f]{64}`,
        ),
        new RegExp(`^dists/stable/InRelease names ${packages} with the size 1\\d+, expected \\d+`),
        new RegExp(
          `^dists/stable/InRelease names dists/\\S+/by-hash/SHA256/${other}, which is not in the site`,
        ),
      ],
    ],
    [
      "Release does not name an index",
      ({ edit }) =>
        edit("dists/stable/InRelease", (text) =>
          text.replace(/ [0-9a-f]{64} \d+ main\/binary-amd64\/Packages\.xz\n/, ""),
        ),
      [`dists/stable/InRelease does not name ${packages}.xz, expected its SHA-256 and size${rebuild}`],
    ],
    [
      "Packages lists a file that no live record has",
      (files) => changePackages(files, (all) => all.replaceAll("files/26.08.001/", "files/26.07.001/")),
      [
        `${packages} lists files/26.07.001/agent_1.0.deb, expected only files of live records${rebuild}`,
        `api/v1/feeds.json gives no reason for package 1 (agent_1.0.deb), which no index of the feed apt lists${rebuild}`,
      ],
    ],
    [
      "Packages has another digest and size of a deb",
      (files) =>
        changePackages(files, (all) => all.replace(digits("1"), other).replace(/(deb\nSize:) 12/g, "$1 13")),
      [
        `${packages} lists files/26.09.001/agent_2.0.deb with the size 13, expected 12${rebuild}`,
        `${packages} lists files/26.08.001/agent_1.0.deb with the SHA-256 ${other}, expected ${digits("1")}${rebuild}`,
        `${packages} lists files/26.08.001/agent_1.0.deb with the size 13, expected 12${rebuild}`,
      ],
    ],
    [
      "a compressed Packages has another content",
      (files) => putIndex(files, `${packages}.gz`, gzipSync("other")),
      [`${packages}.gz is not ${packages} once it is decompressed${rebuild}`],
    ],
    [
      "repomd.xml has another digest of an index",
      ({ edit }) =>
        edit("yum/stable/repodata/repomd.xml", (text) =>
          text.replace(/(<data type="primary">\s*<checksum[^>]*>)[^<]*/, `$1${other}`),
        ),
      [
        /^yum\/stable\/repodata\/repomd\.xml names yum\/stable\/repodata\/\S+-primary\.xml\.gz with the SHA-256 a+,/,
      ],
    ],
    [
      "repomd.xml has another digest of a decompressed index",
      ({ edit }) =>
        edit("yum/stable/repodata/repomd.xml", (text) =>
          text.replace(/(<open-checksum[^>]*>)[^<]*/, `$1${other}`),
        ),
      [/^yum\/stable\/repodata\/repomd\.xml names \S+ with another open-checksum or open-size/],
    ],
    [
      "filelists.xml, other.xml and updateinfo.xml name packages that are not live",
      (files) => {
        changeYum(files, "filelists", filelistsPath(), (xml) => xml.replace(digits("6"), other));
        changeYum(files, "other", otherPath(), (xml) => xml.replace(digits("6"), other));
        changeYum(files, "updateinfo", updatesPath(), (xml) => xml.replace(digits("6"), other));
      },
      [
        /-filelists\.xml\.gz names a package with the SHA-256 a+, expected only live records/,
        /-other\.xml\.gz names a package with the SHA-256 a+, expected only live records/,
        /-updateinfo\.xml\.gz names a package with the SHA-256 a+, expected only live records/,
      ],
    ],
    [
      "repomd.xml lacks the primary index",
      ({ edit }) =>
        edit("yum/stable/repodata/repomd.xml", (text) =>
          text.replace(/<data type="primary">[\s\S]*?<\/data>/, ""),
        ),
      [
        /^yum\/stable\/repodata\/repomd\.xml has no primary index/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-.*\.rpm\)/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-.*\.rpm\)/,
      ],
    ],
    [
      "primary.xml has another digest and size of an rpm",
      (files) =>
        changeYum(files, "primary", primaryPath(), (xml) =>
          xml.replace(digits("6"), other).replace('package="12"', 'package="13"'),
        ),
      [
        /-primary\.xml\.gz lists files\/26\.09\.001\/agent & co-2\.0\.rpm with the SHA-256 a+, expected 6+;/,
        /-primary\.xml\.gz lists files\/26\.09\.001\/agent & co-2\.0\.rpm with the size 13, expected 12;/,
      ],
    ],
    [
      "primary.xml has the address of another site",
      (files) =>
        changeYum(files, "primary", primaryPath(), (xml) =>
          xml.replace(`"${baseUrl}/"`, '"https://a.test/"'),
        ),
      [
        /-primary\.xml\.gz has the location "files\/26\.09\.001\/agent & co-2\.0\.rpm" with the base "https:\/\/a\.test\/", expected a path below https:\/\/downloads\.example\.com\/;/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-2\.0\.rpm\)/,
      ],
    ],
    [
      "primary.xml lists a file that no live record has, and counts too few",
      (files) =>
        changeYum(files, "primary", primaryPath(), (xml) =>
          xml.replace("files/26.08.001/", "files/26.07.001/").replace('packages="2"', 'packages="1"'),
        ),
      [
        /-primary\.xml\.gz says 1 packages, expected 2;/,
        /-primary\.xml\.gz lists files\/26\.07\.001\/\S+ & co-1\.0\.rpm, expected only files of live records/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-1\.0\.rpm\)/,
      ],
    ],
    [
      "primary.xml has a package between processing instructions with a quote",
      (files) =>
        changeYum(files, "primary", primaryPath(), (xml) =>
          xml.replace(
            "</metadata>",
            `<?x " ?><package><location xml:base="${baseUrl}/" href="other.rpm"/></package><?x " ?></metadata>`,
          ),
        ),
      [
        /-primary\.xml\.gz says 2 packages, expected 3;/,
        /-primary\.xml\.gz lists other\.rpm, expected only files of live records/,
      ],
    ],
    [
      "primary.xml has a package with two locations, and repomd.xml an index with two digests",
      (files) => {
        changeYum(files, "primary", primaryPath(), (xml) =>
          xml.replace(/<location [^>]*agent &amp; co-2[^>]*>/, '$&<location href="other.rpm"/>'),
        );
        files.edit("yum/stable/repodata/repomd.xml", (text) =>
          text.replace(/(<data type="other">[\s\S]*?)(<checksum.*?<\/checksum>)/, "$1$2$2"),
        );
      },
      [
        /-primary\.xml\.gz has several elements location for files\/26\.09\.001\/agent & co-2\.0\.rpm, expected one;/,
        /^yum\/stable\/repodata\/repomd\.xml has several elements checksum for repodata\/\S+-other\.xml\.gz, expected one;/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-2\.0\.rpm\)/,
      ],
    ],
    [
      "primary.xml has a control character",
      (files) => changeYum(files, "primary", primaryPath(), (xml) => xml.replace("</metadata>", "\u0001$&")),
      [
        /-primary\.xml\.gz is not an XML document with the root metadata;/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-.*\.rpm\)/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-.*\.rpm\)/,
      ],
    ],
    [
      "index.yaml has another digest, and a URL that no live record has",
      ({ edit }) =>
        edit("charts/index.yaml", (text) =>
          text.replace(digits("7"), other).replace("files/26.08.001/", "files/26.07.001/"),
        ),
      [
        `charts/index.yaml lists agent 2.0 at ${baseUrl}/files/26.09.001/agent-2.0.tgz with the SHA-256 ${other}, expected ${digits("7")}${rebuild}`,
        `charts/index.yaml lists agent 1.0 at ${baseUrl}/files/26.07.001/agent-1.0.tgz, expected only files of live records${rebuild}`,
      ],
    ],
    [
      "a tag is not listed",
      ({ json }) => json("v2/charts/agent/tags/list", (list) => void list.tags.pop()),
      [`v2/charts/agent/tags/list names the tags 1.0, expected 1.0, 2.0${rebuild}`],
    ],
    [
      "a tag names another config and layer than the registry has",
      ({ json }) =>
        json("v2/charts/agent/manifests/2.0", (manifest) => {
          manifest.config.size++;
          manifest.layers[0].digest = `sha256:${other}`;
        }),
      [
        /^v2\/charts\/agent\/manifests\/2\.0 names v2\/charts\/agent\/manifests\/sha256:\S+, which is not in the site/,
        /^v2\/charts\/agent\/manifests\/2\.0 names v2\/charts\/agent\/blobs\/sha256:\S+ with the size \d+, expected \d+/,
        `v2/charts/agent/manifests/2.0 has the layer sha256:${other} of 12 bytes, expected a copy of an artifact with both${rebuild}`,
      ],
    ],
    [
      "a copy has another size than the layer",
      ({ json }) =>
        json("build.json", ({ copies }) => {
          for (const copy of Object.values(copies) as Json[]) if (copy.from.includes("1.0")) copy.size++;
        }),
      [
        `v2/charts/agent/manifests/1.0 has the layer sha256:${digits("3")} of 12 bytes, expected a copy of an artifact with both${rebuild}`,
      ],
    ],
    [
      "a layer is a copy of an artifact that is not live",
      ({ json }) =>
        json("build.json", ({ copies }) => {
          for (const copy of Object.values(copies) as Json[])
            copy.from = copy.from.replace("26.08.001", "26.07.001");
        }),
      [
        `v2/charts/agent/manifests/1.0 lists files/26.07.001/agent-1.0.tgz, expected only files of live records${rebuild}`,
      ],
    ],
    [
      "images.json lists a file that no live record has",
      ({ edit }) =>
        edit("streams/v1/images.json", (text) => text.replaceAll("files/26.08.001/", "files/26.07.001/")),
      [
        "streams/v1/images.json lists files/26.07.001/agent-1.0.incus.tar.xz, expected only files of live records; build, sign and publish again",
        "streams/v1/images.json lists files/26.07.001/agent-1.0.incus.tar.xz, expected only files of live records; build, sign and publish again",
        /^api\/v1\/feeds\.json gives no reason for package 3 \(agent-1\.0\.incus\.tar\.xz\)/,
      ],
    ],
    [
      "nothing says why a record is in no index",
      ({ json }) => json("api/v1/feeds.json", ({ feeds }) => void feeds[1].left_out.pop()),
      [
        `api/v1/feeds.json gives no reason for package 9 (old-1.rpm), which no index of the feed yum lists${rebuild}`,
      ],
    ],
    [
      "a reason is given for a record that is not live",
      ({ json }) =>
        json("api/v1/feeds.json", ({ feeds }) =>
          feeds[2].left_out.push({ id: 99, file: "x.tgz", reason: "it has no size" }),
        ),
      [`api/v1/feeds.json names package 99 of the feed helm, expected only live records${rebuild}`],
    ],
    [
      "a feed is not declared",
      ({ json }) => json("api/v1/feeds.json", (document) => void document.feeds.splice(1, 1)),
      [`api/v1/feeds.json lacks the feed yum, which the site has${rebuild}`],
    ],
  ])("%s", async (_, change, expected) => {
    const found = await findingsOf(change);
    expect(found).toEqual(
      expected.map((each) => (each instanceof RegExp ? expect.stringMatching(each) : each)),
    );
  });
});
