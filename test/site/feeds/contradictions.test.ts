/** @module-tag long */
import { gunzipSync, gzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { incusTarball } from "../../../pipeline/records/incus-tarball.ts";
import { everyFeed, packagesOf } from "../../support/all-feeds.ts";
import { type Files as Authored, releases } from "../../support/catalog.ts";
import { often } from "../../support/effort.ts";
import { contradictionsIn } from "../../support/feed-readers/contradictions.ts";
import { artifact } from "../../support/project.ts";
import { readSiblings, readTree, type Tree } from "../../support/tree.ts";
import type { Json } from "../../verify/support.ts";
import { controlOf } from "./debs.ts";
import { rpmOf, sha256 } from "./rpms.ts";

const baseUrl = "https://downloads.example.com";

const authored = (version: string, artifacts: readonly object[], rest: object = {}): Authored => ({
  [`${version}/release.yaml`]: { version, date: "2026-08-15", ...rest },
  [`${version}/manifests/all.json`]: { release: version, artifacts },
});

/** A disk for Incus. @param digit of its checksum */
function diskOf(name: string, release: string, digit: string, size: number | undefined = 12) {
  const statement = { os: "acme", release, variant: "qcow", description: "A disk" };
  const tarball = incusTarball({ arch: "amd64", ...statement });
  const digests = { metadata_sha256: sha256(tarball), metadata_size: tarball.length };
  const incus = { ...statement, ...digests, combined_sha256: "c".repeat(64) };
  const statements = { type: "image", arch: "amd64", format: "qcow2", incus };
  return artifact(name, "qcow", digit, { size, package: statements });
}

/** Cuts and builds all releases. @param withdrawn ids of records that are retracted before the build */
async function builtFrom(
  feeds: object,
  files: readonly Authored[],
  withdrawn: readonly number[] = [],
): Promise<Tree> {
  const made = releases(
    { "catalog.yaml": { product: "Acme", require: {}, base_url: baseUrl, trust: "simple", feeds } },
    ...files,
  );
  await made.cut();
  if (withdrawn.length > 0) await made.retract({ ids: withdrawn, reason: "It does not start." });
  await made.build({ released: true });
  const { files: listed } = JSON.parse(String(readTree(made.out).get("build.json")));
  // Compressed indexes are files of the site.
  const indexes = [...readSiblings(made.out)].filter(([path]) => Object.hasOwn(listed, path));
  return new Map([...readTree(made.out), ...indexes]);
}

const packslip = { artifacts: { deb: {}, rpm: { variant: "rpm" } } };

let built: Tree;
beforeAll(async () => {
  const unread = artifact("old-1.rpm", "rpm", "9", { size: 9 });
  const security = { notes: { server: { fix: [{ text: "CVE-2026-1234 is closed.", security: true }] } } };
  built = await builtFrom({ ...everyFeed, incus: { os: "acme" }, packslip }, [
    authored("26.08.001", packagesOf("1.0", "1234")),
    authored(
      "26.09.001",
      [...packagesOf("2.0", "5678"), unread, diskOf("agent-2.0.qcow2", "26.09.001", "b")],
      security,
    ),
  ]);
});

/** Findings of the readers in the build after a change of its files. */
async function findingsOf(change: (files: Files) => void): Promise<string[]> {
  const tree = new Map(built);
  change({
    text: (path) => String(tree.get(path)),
    put: (path, bytes) => void tree.set(path, Buffer.from(bytes)),
    edit: (path, edit) => void tree.set(path, Buffer.from(edit(String(tree.get(path))))),
    json(path, edit) {
      const value = JSON.parse(String(tree.get(path)));
      edit(value);
      tree.set(path, Buffer.from(JSON.stringify(value)));
    },
  });
  return contradictionsIn(tree);
}

interface Files {
  text(path: string): string;
  put(path: string, bytes: string | Uint8Array): void;
  edit(path: string, edit: (text: string) => string): void;
  json(path: string, edit: (value: Json) => void): void;
}

const images = "streams/v1/images.json";
const itemOf = ({ products }: Json, name: string): Json =>
  (Object.values(products["acme:26.09.001:amd64:qcow"].versions)[0] as Json).items[name];

const packages = "dists/stable/main/binary-amd64/Packages";
const other = "a".repeat(64);
const digits = (digit: string) => digit.repeat(64);
/** Path of an index of yum. */
const yumIndex = (type: string) =>
  [...built.keys()].find((path) => path.startsWith("yum/stable/") && path.endsWith(`-${type}.xml.gz`)) ?? "";

/** Puts an index of apt, and its line in Release. */
function putIndex(files: Files, path: string, bytes: Uint8Array): void {
  const name = path.slice("dists/stable/".length);
  files.put(path, bytes);
  files.put(path.replace(/[^/]*$/, `by-hash/SHA256/${sha256(bytes)}`), bytes);
  files.edit("dists/stable/Release", (text) =>
    text.replace(
      new RegExp(`^ [0-9a-f]{64} \\d+ ${name.replaceAll(".", "[.]")}$`, "m"),
      ` ${sha256(bytes)} ${bytes.length} ${name}`,
    ),
  );
}

function changePackages(files: Files, change: (text: string) => string): void {
  const bytes = Buffer.from(change(files.text(packages)));
  putIndex(files, packages, bytes);
  putIndex(files, `${packages}.gz`, gzipSync(bytes));
  putIndex(files, `${packages}.xz`, xz.compressSync(bytes));
}

/** Changes an index of yum, and its entry in repomd.xml. */
function changeYum(files: Files, type: string, change: (xml: string) => string): void {
  const path = yumIndex(type);
  const xml = change(String(gunzipSync(built.get(path) ?? Buffer.of())));
  const packed = gzipSync(xml);
  files.put(path, packed);
  files.edit("yum/stable/repodata/repomd.xml", (text) =>
    text.replace(new RegExp(`<data type="${type}">[\\s\\S]*?</data>`), (data) =>
      data
        .replace(/(<checksum[^>]*>)[^<]*/, `$1${sha256(packed)}`)
        .replace(/(<open-checksum[^>]*>)[^<]*/, `$1${sha256(xml)}`)
        .replace(/(<size>)[^<]*/, `$1${packed.length}`)
        .replace(/(<open-size>)[^<]*/, `$1${xml.length}`),
    ),
  );
}

describe("the readers of indexes find", () => {
  test("nothing in a build", async () => {
    expect(await findingsOf(() => {})).toEqual([]);
  });

  test.each<[string, (files: Files) => void, (string | RegExp)[]]>([
    [
      "Release has another digest and size of Packages",
      ({ edit }) =>
        edit("dists/stable/Release", (text) =>
          text.replace(/ [0-9a-f]{64} (\d+) (main\/binary-amd64\/Packages)\n/, ` ${other} 1$1 $2\n`),
        ),
      [
        new RegExp(
          `^dists/stable/Release names ${packages} with the SHA-256 ${other}, expected [0-9a-f]{64}`,
        ),
        new RegExp(`^dists/stable/Release names ${packages} with the size 1\\d+, expected \\d+`),
        new RegExp(
          `^dists/stable/Release names dists/\\S+/by-hash/SHA256/${other}, which is not in the site`,
        ),
      ],
    ],
    [
      "Release does not name an index",
      ({ edit }) =>
        edit("dists/stable/Release", (text) =>
          text.replace(/ [0-9a-f]{64} \d+ main\/binary-amd64\/Packages\.xz\n/, ""),
        ),
      [`dists/stable/Release does not name ${packages}.xz, expected its SHA-256 and size`],
    ],
    [
      "Packages lists a file that no live record has",
      (files) => changePackages(files, (all) => all.replaceAll("files/26.08.001/", "files/26.07.001/")),
      [
        `${packages} lists files/26.07.001/agent_1.0.deb, expected only files of live records`,
        `api/v1/feeds.json gives no reason for package 1 (agent_1.0.deb), which no index of the feed apt lists`,
      ],
    ],
    [
      "Packages has another digest and size of a deb",
      (files) =>
        changePackages(files, (all) => all.replace(digits("1"), other).replace(/(deb\nSize:) 12/g, "$1 13")),
      [
        `${packages} lists files/26.09.001/agent_2.0.deb with the size 13, expected 12`,
        `${packages} lists files/26.08.001/agent_1.0.deb with the SHA-256 ${other}, expected ${digits("1")}`,
        `${packages} lists files/26.08.001/agent_1.0.deb with the size 13, expected 12`,
      ],
    ],
    [
      "a compressed Packages has another content",
      (files) => putIndex(files, `${packages}.gz`, gzipSync("other")),
      [`${packages}.gz is not ${packages} once it is decompressed`],
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
        changeYum(files, "filelists", (xml) => xml.replace(digits("6"), other));
        changeYum(files, "other", (xml) => xml.replace(digits("6"), other));
        changeYum(files, "updateinfo", (xml) => xml.replace(digits("6"), other));
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
        changeYum(files, "primary", (xml) =>
          xml.replace(digits("6"), other).replace('package="12"', 'package="13"'),
        ),
      [
        /-primary\.xml\.gz lists files\/26\.09\.001\/agent & co-2\.0\.rpm with the SHA-256 a+, expected 6+$/,
        /-primary\.xml\.gz lists files\/26\.09\.001\/agent & co-2\.0\.rpm with the size 13, expected 12$/,
      ],
    ],
    [
      "primary.xml has the address of another site",
      (files) => changeYum(files, "primary", (xml) => xml.replace(`"${baseUrl}/"`, '"https://a.test/"')),
      [
        /-primary\.xml\.gz has the location "files\/26\.09\.001\/agent & co-2\.0\.rpm" with the base "https:\/\/a\.test\/", expected a path below https:\/\/downloads\.example\.com\/$/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-2\.0\.rpm\)/,
      ],
    ],
    [
      "primary.xml lists a file that no live record has, and counts too few",
      (files) =>
        changeYum(files, "primary", (xml) =>
          xml.replace("files/26.08.001/", "files/26.07.001/").replace('packages="2"', 'packages="1"'),
        ),
      [
        /-primary\.xml\.gz says 1 packages, expected 2$/,
        /-primary\.xml\.gz lists files\/26\.07\.001\/\S+ & co-1\.0\.rpm, expected only files of live records/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-1\.0\.rpm\)/,
      ],
    ],
    [
      "primary.xml has a package between processing instructions with a quote",
      (files) =>
        changeYum(files, "primary", (xml) =>
          xml.replace(
            "</metadata>",
            `<?x " ?><package><location xml:base="${baseUrl}/" href="other.rpm"/></package><?x " ?></metadata>`,
          ),
        ),
      [
        /-primary\.xml\.gz says 2 packages, expected 3$/,
        /-primary\.xml\.gz lists other\.rpm, expected only files of live records/,
      ],
    ],
    [
      "primary.xml has a package with two locations, and repomd.xml an index with two digests",
      (files) => {
        changeYum(files, "primary", (xml) =>
          xml.replace(/<location [^>]*agent &amp; co-2[^>]*>/, '$&<location href="other.rpm"/>'),
        );
        files.edit("yum/stable/repodata/repomd.xml", (text) =>
          text.replace(/(<data type="other">[\s\S]*?)(<checksum.*?<\/checksum>)/, "$1$2$2"),
        );
      },
      [
        /-primary\.xml\.gz has several elements location for files\/26\.09\.001\/agent & co-2\.0\.rpm, expected one$/,
        /^yum\/stable\/repodata\/repomd\.xml has several elements checksum for repodata\/\S+-other\.xml\.gz, expected one$/,
        /^api\/v1\/feeds\.json gives no reason for package \d \(agent & co-2\.0\.rpm\)/,
      ],
    ],
    [
      "primary.xml has a control character",
      (files) => changeYum(files, "primary", (xml) => xml.replace("</metadata>", "\u0001$&")),
      [
        /-primary\.xml\.gz is not an XML document with the root metadata$/,
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
        `charts/index.yaml lists agent 2.0 at ${baseUrl}/files/26.09.001/agent-2.0.tgz with the SHA-256 ${other}, expected ${digits("7")}`,
        `charts/index.yaml lists agent 1.0 at ${baseUrl}/files/26.07.001/agent-1.0.tgz, expected only files of live records`,
      ],
    ],
    [
      "a tag is not listed",
      ({ json }) => json("v2/charts/agent/tags/list", (list) => void list.tags.pop()),
      [`v2/charts/agent/tags/list names the tags 1.0, expected 1.0, 2.0`],
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
        `v2/charts/agent/manifests/2.0 has the layer sha256:${other} of 12 bytes, expected a copy of an artifact with both`,
      ],
    ],
    [
      "a copy has another size than the layer",
      ({ json }) =>
        json("build.json", ({ copies }) => {
          for (const copy of Object.values(copies) as Json[]) if (copy.from.includes("1.0")) copy.size++;
        }),
      [
        `v2/charts/agent/manifests/1.0 has the layer sha256:${digits("3")} of 12 bytes, expected a copy of an artifact with both`,
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
        `v2/charts/agent/manifests/1.0 lists files/26.07.001/agent-1.0.tgz, expected only files of live records`,
      ],
    ],
    [
      "images.json lists a file that no live record has",
      ({ edit }) =>
        edit("streams/v1/images.json", (text) => text.replaceAll("files/26.08.001/", "files/26.07.001/")),
      [
        "streams/v1/images.json lists files/26.07.001/agent-1.0.incus.tar.xz, expected only files of live records",
        "streams/v1/images.json lists files/26.07.001/agent-1.0.incus.tar.xz, expected only files of live records",
        /^api\/v1\/feeds\.json gives no reason for package 3 \(agent-1\.0\.incus\.tar\.xz\)/,
      ],
    ],
    [
      "images.json has another digest of an image",
      ({ json }) =>
        json(images, (list) => void Object.assign(itemOf(list, "disk-kvm.img"), { sha256: other })),
      [`${images} lists files/26.09.001/agent-2.0.qcow2 with the SHA-256 ${other}, expected ${digits("b")}`],
    ],
    [
      "images.json has another size of an image",
      ({ json }) => json(images, (list) => void Object.assign(itemOf(list, "disk-kvm.img"), { size: 1 })),
      [`${images} lists files/26.09.001/agent-2.0.qcow2 with 1 bytes, expected 12`],
    ],
    [
      "images.json names a tarball that is not there",
      ({ json }) =>
        json(
          images,
          (list) => void Object.assign(itemOf(list, "lxd.tar.xz"), { path: `streams/${other}.incus.tar.xz` }),
        ),
      [`${images} lists streams/${other}.incus.tar.xz, expected only files of the build`],
    ],
    [
      "index.json names other images than images.json",
      ({ json }) => json("streams/v1/index.json", ({ index }) => void index.images.products.pop()),
      [`streams/v1/index.json names other images than ${images}, expected the same`],
    ],
    [
      "images.json has another form",
      ({ json }) => json(images, (list) => void Object.assign(list, { products: [] })),
      [
        `${images} is not a list of images`,
        ...[3, 8, 7].map((id) => expect.stringMatching(`gives no reason for package ${id} `)),
      ],
    ],
    [
      "a statement of packslip has other bytes, a file without a record, and a release that the list lacks",
      ({ json }) => {
        json("releases/26.09.001/packslip.unsigned.json", ({ subject, predicate }) => {
          subject[0].digest.sha256 = other;
          predicate.artifacts[1].url += "x";
        });
        json(".well-known/packslip.unsigned.json", ({ predicate }) => void predicate.releases.pop());
      },
      [
        "releases/26.08.001/packslip.unsigned.json is of 26.8.1, which the list does not have",
        /^releases\/26\.09\.001\/packslip\.unsigned\.json lists .* with the SHA-256 a{64}, expected /,
        /^releases\/26\.09\.001\/packslip\.unsigned\.json lists .*, expected only files of live records$/,
        /^api\/v1\/feeds\.json gives no reason for package \d+ \(agent/,
      ],
    ],
    [
      "nothing says why a record is in no index",
      ({ json }) => json("api/v1/feeds.json", ({ feeds }) => void feeds[1].left_out.pop()),
      [`api/v1/feeds.json gives no reason for package 10 (old-1.rpm), which no index of the feed yum lists`],
    ],
    [
      "a reason is given for a record that is not live",
      ({ json }) =>
        json("api/v1/feeds.json", ({ feeds }) =>
          feeds[2].left_out.push({ id: 99, file: "x.tgz", reason: "it has no size" }),
        ),
      [`api/v1/feeds.json names package 99 of the feed helm, expected only live records`],
    ],
    [
      "a feed is not declared",
      ({ json }) => json("api/v1/feeds.json", (document) => void document.feeds.splice(1, 1)),
      [`api/v1/feeds.json lacks the feed yum, which the site has`],
    ],
  ])("%s", async (_, change, expected) => {
    const found = await findingsOf(change);
    expect(found).toEqual(
      expected.map((each) => (each instanceof RegExp ? expect.stringMatching(each) : each)),
    );
  });
});

/** Feeds refuse two packages with one version, so each package of a catalog gets a number for its name and version. */
type Drawn = (numbered: { number: number; file: string; release: string; digit: string }) => object;

const sizes = fc.constantFrom(12, 12, 12, undefined);
const architectures = fc.constantFrom("amd64", "arm64");

const drawnPackages: fc.Arbitrary<Drawn> = fc.oneof(
  fc
    .tuple(fc.constantFrom("agent", "tool"), architectures, fc.constantFrom("18.04", "20.04", "24.04"), sizes)
    .map(
      ([name, arch, min_os_version, size]): Drawn =>
        ({ number, file, digit }) => {
          const statements = { type: "deb", arch, control: controlOf(name, `1.${number}~rc1`, arch) };
          return artifact(`${file}.deb`, "deb", digit, { min_os_version, size, package: statements });
        },
    ),
  fc.tuple(architectures, fc.boolean(), sizes).map(
    ([arch, isRead, size]): Drawn =>
      ({ number, file, digit }) => {
        const native_arch = arch === "amd64" ? "x86_64" : "aarch64";
        const statements = isRead ? { ...rpmOf({ version: `1.${number}` }), arch, native_arch } : undefined;
        return artifact(`${file} &.rpm`, "rpm", digit, { size, package: statements });
      },
  ),
  fc.tuple(fc.constantFrom("agent", "tool"), fc.constantFrom("+b", ".x"), sizes).map(
    ([name, ending, size]): Drawn =>
      ({ number, file, digit }) => {
        const statements = {
          type: "helm",
          chart: { apiVersion: "v2", name, version: `1.${number}.0${ending}` },
        };
        return artifact(`${file}.tgz`, "helm", digit, { size, package: statements });
      },
  ),
  sizes.map(
    (size): Drawn =>
      ({ file, release, digit }) =>
        diskOf(`${file}.qcow2`, release, digit, size),
  ),
  fc.tuple(fc.constantFrom("container", "virtual-machine", "metadata"), sizes).map(
    ([content, size]): Drawn =>
      ({ file, digit }) => {
        const statements = { type: "image", arch: "amd64", format: "incus", content };
        return artifact(`${file}.incus.tar.xz`, "incus", digit, { size, package: statements });
      },
  ),
);

const drawnFeeds = fc.record(
  {
    apt: fc.constantFrom({}, { suites: { focal: "20.04", tools: { match: "p[0-3]*" } } }),
    yum: fc.constantFrom(
      {},
      { filelists: true, changelogs: true },
      { repos: { even: { match: "p*[02468]*" } } },
    ),
    helm: fc.constantFrom({}, { oci: true }),
    incus: fc.constantFrom({}, { os: "acme" }),
    packslip: fc.constant(packslip),
  },
  { requiredKeys: [] },
);

test("the indexes and the records agree after any releases and withdrawals", async () => {
  const releasesOf = fc.array(fc.array(drawnPackages, { minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 4,
  });
  await fc.assert(
    fc.asyncProperty(drawnFeeds, releasesOf, fc.nat(6), async (feeds, drawn, residue) => {
      let number = 0;
      const files = drawn.map((packages, index) => {
        const release = `26.0${index + 1}.001`;
        const artifacts = packages.map((make) => {
          number++;
          return make({ number, digit: (number % 16).toString(16), file: `p${number}`, release });
        });
        return authored(release, artifacts);
      });
      const withdrawn = Array.from({ length: number }, (_, at) => at + 1).filter((id) => id % 7 === residue);
      expect(await contradictionsIn(await builtFrom(feeds, files, withdrawn))).toEqual([]);
    }),
    { numRuns: often(60, 6), seed: 20_261_126 },
  );
});
