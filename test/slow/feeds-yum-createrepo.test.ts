import { copyFileSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { execa } from "execa";
import { beforeAll, expect, test } from "vitest";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { rpmMetadata } from "../../inspect/packages/rpm/metadata.ts";
import { filelistsPackage, otherPackage, primaryPackage } from "../../pipeline/site/feeds/yum-rows.ts";
import { sha256 } from "../site/feeds/rpms.ts";
import { readXml, type XmlElement } from "../site/pages/xml.ts";
import { buildRpm, type RpmSpec } from "../support/rpm-builds.ts";
import { repository, temporaryFolder } from "../support/run.ts";

/** The metadata that createrepo_c writes for the same files. */

/** Twelve entries, of which some have the same day, and one has several lines. */
const changelog = `%changelog\n${["20", "20", "20", "19", "19", "18", "17", "16", "15", "14", "13", "12"]
  .map(
    (day, at) =>
      `* Wed Aug ${day} 2026 Dév <dev@acme.example> - ${12 - at}\n- Change <${at}> & more\n  of it\n`,
  )
  .join("\n")}`;

const specs: RpmSpec[] = [
  {
    name: "everything",
    version: "26.8.2~rc1",
    release: "1^git5",
    epoch: 2,
    preamble: [
      "URL: https://acme.example/?a=1&b=2",
      "Vendor: Acme <&>",
      "Packager: Dévelopeur <dev@acme.example>",
      "Group: Applications/Internet",
      "Provides: agent = 3:4-5",
      "Provides: virtual-thing",
      "Requires: libfoo >= 2",
      "Requires: libfoo >= 2",
      "Requires: agent = 3:4-5",
      "Requires: agent",
      "Requires: /usr/bin/agent",
      "Requires: /usr/share/agent/readme",
      "Requires(pre): shadow",
      "Requires(post): shadow",
      "Requires(preun): systemd",
      "Requires: (libbar or libbaz >= 1:2-3)",
      "Requires: libc.so.6(GLIBC_2.4)(64bit)",
      "Requires: libc.so.6(GLIBC_2.34)(64bit)",
      "Requires: libc.so.6()(64bit)",
      "Requires: after-libc",
      "Conflicts: old-agent < 3",
      "Obsoletes: older-agent <= 2-1",
      "Recommends: curl > 7",
      "Suggests: vim",
      "Supplements: (acme and other)",
      "Enhances: thing = 1",
    ],
    description: '<b>First</b> & "second" line.\n\n  Indented.\tWith a tab. \u{1F600} ]]>',
    sections: `%pre\nexit 0\n%post -p <lua>\nprint(1)\n%preun\nexit 0\n%pretrans -p <lua>\nprint(2)\n${changelog}`,
    files: {
      "/usr/bin/agent": "agent",
      "/usr/sbin/agentd": "agent",
      "/etc/agent/conf with space": "",
      "/etc/agent/x<y&z": "",
      "/usr/share/agent/readme": "read",
      "/opt/acme/bin/tool": "",
    },
    listed: ["%dir /etc/agent", "%ghost /etc/agent/state", "%ghost /var/lib/agent/cache"],
  },
  { name: "bare", version: "1", arch: "noarch" },
  { name: "old", version: "1", arch: "i686", files: { "/usr/lib/sendmail": "" } },
  { name: "arm", version: "1", arch: "aarch64", listed: ["%ghost %dir /etc/arm"] },
  ...["armv5tel", "mips64el", "ppc64p7", "loongarch64", "xtensa"].map((arch) => ({
    name: arch,
    version: "1",
    arch,
  })),
];

let folder: string;
beforeAll(async () => {
  const top = temporaryFolder();
  folder = join(top, "packages");
  mkdirSync(folder);
  const fixtures = globSync("test/fixtures/**/*.rpm", { cwd: repository }).map((path) =>
    join(repository, path),
  );
  const built: string[] = [];
  for (const spec of specs) {
    const own = join(top, spec.name);
    mkdirSync(own);
    built.push(await buildRpm(own, spec));
  }
  for (const file of [...fixtures, ...built]) copyFileSync(file, join(folder, basename(file)));
  await execa("createrepo_c", ["--quiet", "--no-database", folder], { reject: false });
});

const theirs = (type: string): Map<string, XmlElement> => {
  const [file = ""] = globSync(`repodata/*-${type}.xml.gz`, { cwd: folder });
  const root = readXml(gunzipSync(readFileSync(join(folder, file))).toString());
  return new Map(root.children.map((entry) => [keyOf(entry), entry]));
};

/** SHA-256 of the rpm. */
const keyOf = ({ attributes, children }: XmlElement): string =>
  attributes.get("pkgid") ?? children.find(({ name }) => name === "checksum")?.text ?? "";

/** A line for each element with its path. Values that depend on the folder of the rpm are left out. */
function linesOf(element: XmlElement, path = ""): string[] {
  const own = `${path}/${element.name}`;
  const left = own === "/package/location" ? ["href", "xml:base"] : own === "/package/time" ? ["file"] : [];
  const attributes = [...element.attributes].filter(([name]) => !left.includes(name));
  const text = element.children.length > 0 ? "" : element.text;
  return [
    JSON.stringify([own, ...attributes, text]),
    ...element.children.flatMap((child) => linesOf(child, own)),
  ];
}

const writers = {
  primary: (...args: Parameters<typeof otherPackage>) =>
    primaryPackage(...args, "https://downloads.example.com"),
  filelists: filelistsPackage,
  other: otherPackage,
};

function ours(type: keyof typeof writers): Map<string, XmlElement> {
  const found = new Map<string, XmlElement>();
  for (const file of globSync("*.rpm", { cwd: folder })) {
    const bytes = readFileSync(join(folder, file));
    const metadata = metadataOf(bytes);
    if (!metadata) continue;
    const location = { path: file, size: bytes.length, sha256: sha256(bytes) };
    found.set(location.sha256, readXml(writers[type](metadata, location)));
  }
  return found;
}

/** Undefined for a file that is not an rpm. */
function metadataOf(bytes: Buffer) {
  try {
    return rpmMetadata(bytesSource(bytes), { filelists: true, changelogs: true });
  } catch {
    return undefined;
  }
}

test.each(["primary", "filelists", "other"] as const)("createrepo_c writes the same %s.xml", (type) => {
  const [mine, other] = [ours(type), theirs(type)];
  expect([...mine.keys()].sort()).toEqual([...other.keys()].sort());
  expect(other.size).toBeGreaterThan(specs.length + 10);
  for (const [key, element] of other) {
    const own = mine.get(key);
    expect(own && linesOf(own)).toEqual(linesOf(element));
  }
});
