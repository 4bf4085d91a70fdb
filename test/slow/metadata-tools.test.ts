import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { execa } from "execa";
import { beforeAll, describe, expect, test } from "vitest";
import { knownArchitecture } from "../../inspect/architecture.ts";
import { readXml, type XmlElement } from "../../inspect/bytes/xml.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import { Fault } from "../../inspect/verdict.ts";
import { fileSource } from "../../pipeline/system/file-source.ts";
import { architecture, type RpmEntry, type RpmMetadata } from "../../shared/package-metadata.ts";
import { pathOf } from "../support/artifacts.ts";
import { temporaryFolder } from "../support/run.ts";

/** relcat reads the same values from packages as dpkg, rpm and createrepo_c. */

async function metadata(path: string) {
  const source = fileSource(path);
  try {
    return await readMetadata(source, { kind: "client", filelists: false });
  } finally {
    source.close();
  }
}

/** Small packages of many kinds: scripts, conffiles, multi-arch, many dependencies. */
const stock =
  `adduser apt-utils base-files base-passwd bash-completion ca-certificates cron-daemon-common dash debconf
  debianutils diffutils dmidecode dpkg-dev e2fslibs findutils fontconfig-config gcc-12-base gettext-base gzip hostname
  init-system-helpers iproute2 iputils-ping isc-dhcp-common kmod less libacl1 libattr1 libaudit-common libbz2-1.0
  libcap2 libcom-err2 libcrypt1 libdb5.3 libexpat1 libffi8 libgdbm6 libgpm2 liblz4-1 liblzma5 libpam-runtime libselinux1
  login logrotate lsb-release lsof mawk media-types ncurses-base netbase procps sensible-utils sysvinit-utils tar
  ucf usrmerge x11-common xauth zlib1g`.split(/\s+/);

describe("debs", () => {
  let folder: string;
  beforeAll(async () => {
    folder = temporaryFolder();
    // The user _apt cannot write to the folder of the test.
    await execa("apt-get", ["-o", "APT::Sandbox::User=root", "download", "-q", ...(await available(stock))], {
      cwd: folder,
    });
  });

  const available = async (names: readonly string[]) => {
    const { stdout } = await execa("apt-cache", ["pkgnames"]);
    const known = new Set(stdout.split("\n"));
    return names.filter((name) => known.has(name));
  };

  async function compare(path: string): Promise<void> {
    const { stdout: control } = await execa("dpkg-deb", ["--field", path], { stripFinalNewline: false });
    const { stdout: arch } = await execa("dpkg-deb", ["--field", path, "Architecture"]);
    expect(await metadata(path)).toEqual({ type: "deb", arch, control: control.replace(/\n+$/, "") });
  }

  test("may have every architecture that dpkg and rpm know", async () => {
    const { stdout } = await execa("dpkg-architecture", ["--list-known"]);
    const known = stdout.split("\n");
    expect(known.length).toBeGreaterThan(500);
    expect(known.filter((name) => !architecture.safeParse(name).success)).toEqual([]);
    const rpmrc = readFileSync("/usr/lib/rpm/rpmrc", "utf8");
    const canonical = [...rpmrc.matchAll(/^arch_canon:[^:]*:\s*(\S+)/gm)].map(([, name = ""]) => name);
    expect(canonical.filter((name) => knownArchitecture(name) === undefined)).toEqual([
      ...["sgi", "rs6000", "sh", "xtensa"],
    ]);
  });

  test("in the distribution have the fields that dpkg-deb shows", async () => {
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(45);
    for (const file of files) await compare(join(folder, file));
  });

  test("among the fixtures have them too, unless dpkg-deb cannot read them either", async () => {
    const files = readdirSync(pathOf("deb")).filter((name) => name.endsWith(".deb"));
    const refused: string[] = [];
    for (const file of files) {
      const path = pathOf(`deb/${file}`);
      await metadata(path).then(
        () => compare(path),
        (error) => {
          if (!(error instanceof Fault)) throw error;
          refused.push(file);
        },
      );
    }
    expect(refused).toEqual(["tampered-control.deb"]);
  });
});

const spec = readFileSync(join(import.meta.dirname, "../fixtures/metadata/acme.spec"), "utf8");

describe("rpms", () => {
  let folder: string;
  let listed: Map<string, XmlElement>;
  beforeAll(async () => {
    folder = temporaryFolder();
    const top = temporaryFolder();
    writeFileSync(join(top, "acme.spec"), spec);
    const defined = { _topdir: top, _rpmdir: folder, _srcrpmdir: folder, _build_name_fmt: "%%{NAME}.rpm" };
    const defines = Object.entries(defined).flatMap(([name, value]) => ["--define", `${name} ${value}`]);
    await execa("rpmbuild", ["-ba", ...defines, join(top, "acme.spec")]);
    mkdirSync(join(folder, "fixtures"));
    for (const file of readdirSync(pathOf("rpm")))
      if (file.endsWith(".rpm")) cpSync(pathOf(`rpm/${file}`), join(folder, "fixtures", file));
    await execa("createrepo_c", ["--quiet", "--general-compress-type=gz", folder]);
    const [primary = ""] = readdirSync(join(folder, "repodata")).filter((name) =>
      /primary\.xml\.gz$/.test(name),
    );
    const xml = gunzipSync(readFileSync(join(folder, "repodata", primary))).toString("utf8");
    const packages = (await readXml(xml, ["metadata"], primary)).all("package");
    listed = new Map(packages.map((each) => [each.first("location")?.attributes.href ?? "", each]));
  });

  test("have the fields, dependencies and files of createrepo_c's primary.xml", async () => {
    const compared: string[] = [];
    for (const [href, element] of listed) {
      if (element.first("arch")?.text === "src") continue;
      expect(asPrimary((await metadata(join(folder, href))) as RpmMetadata), href).toEqual(fieldsOf(element));
      compared.push(basename(href));
    }
    expect(compared).toEqual(
      expect.arrayContaining(["acme-agent.rpm", "acme-library.rpm", "acme-empty.rpm", "signed-ed25519.rpm"]),
    );
    expect(compared.length).toBeGreaterThan(20);
  });

  test("have the tags that rpm shows", async () => {
    const tags = [
      "NAME",
      "EPOCHNUM",
      "VERSION",
      "RELEASE",
      "ARCH",
      "BUILDTIME",
      "SIZE",
      "SOURCERPM",
      "SUMMARY",
    ];
    const format = tags.map((tag) => `%{${tag}}`).join("\\n");
    for (const name of ["acme-agent", "acme-library", "acme-empty"]) {
      const path = join(folder, `${name}.rpm`);
      const { stdout } = await execa("rpm", ["-qp", "--queryformat", format, path]);
      const found = (await metadata(path)) as RpmMetadata;
      const { epoch, version, release, native_arch, build_time, size, sourcerpm, summary } = found;
      const shown = [
        found.name,
        epoch,
        version,
        release,
        native_arch,
        build_time,
        size.installed,
        sourcerpm,
        summary,
      ];
      expect(stdout).toBe(shown.join("\n"));
    }
  });

  test("with sources have none", async () => {
    const [source = ""] = readdirSync(folder).filter((name) => name.endsWith(".src.rpm"));
    expect(await metadata(join(folder, source))).toBeUndefined();
  });
});

/** The parts of primary.xml that a package decides. */
function fieldsOf(element: XmlElement) {
  const format = element.first("format");
  const text = (parent: XmlElement | undefined, name: string) => parent?.first(name)?.text ?? "";
  const version = element.first("version")?.attributes ?? {};
  const entries = (name: string) =>
    format
      ?.first(`rpm:${name}`)
      ?.all("rpm:entry")
      .map(({ attributes }) => attributes) ?? [];
  return {
    ...{ name: text(element, "name"), arch: text(element, "arch"), version },
    ...{ summary: text(element, "summary"), description: text(element, "description") },
    ...{ packager: text(element, "packager"), url: text(element, "url") },
    build: element.first("time")?.attributes.build,
    size: [element.first("size")?.attributes.installed, element.first("size")?.attributes.archive],
    ...Object.fromEntries(headerTexts.map((name) => [name, text(format, `rpm:${name}`)])),
    range: format?.first("rpm:header-range")?.attributes ?? {},
    lists: Object.fromEntries(lists.map((name) => [name, entries(name)])),
    files: format?.all("file").map(({ attributes, text }) => [text, attributes.type ?? "file"]),
  };
}

const headerTexts = ["license", "vendor", "group", "buildhost", "sourcerpm"] as const;
const lists = [
  ...(["provides", "requires", "conflicts", "obsoletes"] as const),
  ...(["recommends", "suggests", "supplements", "enhances"] as const),
];

/** The same from what relcat reads. */
function asPrimary(found: RpmMetadata): ReturnType<typeof fieldsOf> {
  const [start, end] = found.header_range;
  return {
    ...{ name: found.name, arch: found.native_arch },
    version: { epoch: String(found.epoch), ver: found.version, rel: found.release },
    ...{ summary: found.summary, description: found.description },
    ...{ packager: found.packager ?? "", url: found.url ?? "" },
    build: String(found.build_time),
    size: [String(found.size.installed), String(found.size.archive)],
    ...Object.fromEntries(headerTexts.map((name) => [name, found[name] ?? ""])),
    range: { start: String(start), end: String(end) },
    lists: Object.fromEntries(lists.map((name) => [name, found[name].map(asEntry)])),
    files: found.files.map(({ path, type }) => [path, type]),
  };
}

const asEntry = ({ name, flags, epoch, version, release, pre }: RpmEntry): Record<string, string> => ({
  name,
  ...(flags && { flags }),
  ...(epoch && { epoch }),
  ...(version && { ver: version }),
  ...(release && { rel: release }),
  ...(pre && { pre: "1" }),
});
