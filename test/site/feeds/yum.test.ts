import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { feedPath } from "../../../pipeline/documents/feeds/paths.ts";
import { yumFeed } from "../../../pipeline/site/feeds/yum.ts";
import type { RpmMetadata } from "../../../shared/package-metadata.ts";
import { often } from "../../support/effort.ts";
import { noteOf, releaseOf, retractedOf, textOf } from "../pages/factory.ts";
import type { XmlElement } from "../pages/xml.ts";
import {
  childOf,
  indexOf,
  listedIn,
  rpmOf,
  rpmRecord,
  sha256,
  wordOf,
  yumConfig,
  yumGroups,
  yumRows,
  yumSite,
} from "./rpms.ts";

const withRpm = (metadata: RpmMetadata) => releaseOf("26.08.002", { packages: [rpmRecord(1, metadata)] });

/** The package of primary.xml that a release with one rpm has. */
function primaryOf(metadata: RpmMetadata): XmlElement {
  const [entry] = indexOf(yumSite([withRpm(metadata)]), "primary")?.children ?? [];
  if (!entry) throw new Error("no package");
  return entry;
}

/** Elements below an element, as words. */
const outline = (element: XmlElement): string[] =>
  element.children.map(({ name, attributes, text }) =>
    [
      name,
      ...Array.from(attributes, ([key, value]) => `${key}=${value}`),
      ...(text.trim() ? [text] : []),
    ].join(" "),
  );

describe("primary.xml", () => {
  test("repeats what the header says, and adds size, checksum and location", () => {
    const entry = primaryOf(
      rpmOf({ epoch: 2, url: "https://acme.example/", packager: "Acme", summary: "Agent <&>" }),
    );
    expect(outline(entry)).toEqual([
      "name agent",
      "arch x86_64",
      "version epoch=2 ver=26.8.2 rel=1",
      `checksum type=sha256 pkgid=YES ${"1".padStart(64, "0")}`,
      "summary Agent <&>",
      "description The agent.",
      "packager Acme",
      "url https://acme.example/",
      "time file=1787000000 build=1787000000",
      "size package=1536 installed=4096 archive=4400",
      "location xml:base=https://downloads.example.com/base/ href=files/26.08.002/agent-1.x86_64.rpm",
      "format",
    ]);
  });

  test("has dependencies with their comparisons, and the files that others may require by path", () => {
    const entry = primaryOf(
      rpmOf({
        license: "Apache-2.0",
        sourcerpm: "agent-26.8.2-1.src.rpm",
        provides: [{ name: "agent(x86-64)", flags: "EQ", epoch: "0", version: "26.8.2", release: "1" }],
        requires: [{ name: "/bin/sh", pre: true }, { name: "(libfoo >= 2 or libbar)" }],
        recommends: [{ name: "curl", flags: "GE", epoch: "0", version: "7" }],
        files: [
          { path: "/usr/bin/agent", type: "file" },
          { path: "/etc/agent", type: "dir" },
          { path: "/etc/agent/state", type: "ghost" },
          { path: "/usr/share/agent/logo.png", type: "file" },
        ],
      }),
    );
    const format = childOf(entry, "format");
    expect(outline(format)).toEqual([
      "rpm:license Apache-2.0",
      "rpm:vendor",
      "rpm:group",
      "rpm:buildhost",
      "rpm:sourcerpm agent-26.8.2-1.src.rpm",
      "rpm:header-range start=4504 end=7896",
      "rpm:provides",
      "rpm:requires",
      "rpm:recommends",
      "file /usr/bin/agent",
      "file type=dir /etc/agent",
      "file type=ghost /etc/agent/state",
    ]);
    expect(outline(childOf(format, "rpm:provides"))).toEqual([
      "rpm:entry name=agent(x86-64) flags=EQ epoch=0 ver=26.8.2 rel=1",
    ]);
    expect(outline(childOf(format, "rpm:requires"))).toEqual([
      "rpm:entry name=/bin/sh pre=1",
      "rpm:entry name=(libfoo >= 2 or libbar)",
    ]);
    expect(outline(childOf(format, "rpm:recommends"))).toEqual([
      "rpm:entry name=curl flags=GE epoch=0 ver=7",
    ]);
  });

  test("keeps every text whole: nothing that a package says becomes an element or an attribute", () => {
    const unit = fc.oneof(
      ...["<", ">", "&", '"', "'", "]]>", "<package>", "&amp;", "\r", "\n", "\t", " ", "é", "😀"].map(
        fc.constant,
      ),
      fc.string({ unit: "grapheme-ascii", maxLength: 3 }),
    );
    const texts = fc.string({ unit, minLength: 1 }).map((text) => text.replace(/[^\P{Cc}\t\n\r]/gu, "-"));
    fc.assert(
      fc.property(texts, (text) => {
        const entry = primaryOf(
          rpmOf({
            description: text,
            requires: [{ name: text, flags: "EQ", epoch: text, version: text, release: text }],
            files: [{ path: `/etc/${text}`, type: "file" }],
          }),
        );
        const format = childOf(entry, "format");
        expect(outline(entry)).toHaveLength(12);
        expect(wordOf(entry, "description")).toBe(text);
        expect(childOf(childOf(format, "rpm:requires"), "rpm:entry").attributes).toEqual(
          new Map(
            ["name", "flags", "epoch", "ver", "rel"].map((name) => [name, name === "flags" ? "EQ" : text]),
          ),
        );
        expect(wordOf(format, "file")).toBe(`/etc/${text}`);
      }),
      { numRuns: often(200, 50) },
    );
  });

  test("has a path below the address of the site, which clients percent-encode", () => {
    const entry = rpmRecord(1, rpmOf(), { file: "agent+x ^1~rc #2%&<.rpm" });
    expect(listedIn(yumSite([releaseOf("26.08.002", { packages: [entry] })]))).toEqual([
      "files/26.08.002/agent+x ^1~rc #2%&<.rpm",
    ]);
  });

  test("counts its packages; an empty repository is complete too", () => {
    const [first, second] = [rpmRecord(2, rpmOf({ version: "2" })), rpmRecord(1)];
    const files = yumSite([releaseOf("26.08.002", { packages: [first, second] })]);
    expect(indexOf(files, "primary")?.attributes.get("packages")).toBe("2");
    expect(indexOf(yumSite([]), "primary")?.attributes.get("packages")).toBe("0");
  });
});

describe("filelists.xml", () => {
  test("has every file, and is absent unless it is configured", () => {
    const release = withRpm(rpmOf({ files: [{ path: "/usr/share/agent/logo.png", type: "file" }] }));
    expect(indexOf(yumSite([release]), "filelists")).toBeUndefined();
    const [entry] = indexOf(yumSite([release], yumConfig({ filelists: true })), "filelists")?.children ?? [];
    expect(entry && [...entry.attributes]).toEqual([
      ["pkgid", "1".padStart(64, "0")],
      ["name", "agent"],
      ["arch", "x86_64"],
    ]);
    expect(entry && outline(entry)).toEqual([
      "version epoch=0 ver=26.8.2 rel=1",
      "file /usr/share/agent/logo.png",
    ]);
  });
});

describe("other.xml", () => {
  test("has the changelogs, and is absent unless it is configured", () => {
    const change = {
      author: "Ada <ada@acme.example> - 2",
      time: 1_787_000_000,
      text: "- Fixed <&>\n  twice",
    };
    const release = releaseOf("26.08.002", {
      packages: [rpmRecord(2, rpmOf({ changelogs: [change] })), rpmRecord(1, rpmOf({ version: "1" }))],
    });
    expect(indexOf(yumSite([release]), "other")).toBeUndefined();
    const index = indexOf(yumSite([release], yumConfig({ changelogs: true })), "other");
    expect(index?.name).toBe("otherdata");
    expect(index?.attributes.get("packages")).toBe("2");
    const [entry, earlier] = index?.children ?? [];
    expect(entry && [...entry.attributes]).toEqual([
      ["pkgid", "2".padStart(64, "0")],
      ["name", "agent"],
      ["arch", "x86_64"],
    ]);
    expect(entry && outline(entry)).toEqual([
      "version epoch=0 ver=26.8.2 rel=1",
      "changelog author=Ada <ada@acme.example> - 2 date=1787000000 - Fixed <&>\n  twice",
    ]);
    // Its manifest was written before the feed had changelogs.
    expect(earlier && outline(earlier)).toEqual(["version epoch=0 ver=1 rel=1"]);
  });
});

describe("updateinfo.xml", () => {
  const fixed = noteOf("A crafted packet **stopped** the agent.", {
    security: true,
    refs: ["ACME-7", "https://nvd.example/vuln/detail/CVE-2026-12345", "CVE-2026-99998, cve-2026-99999"],
  });

  test("has an advisory for each release whose notes name a fixed vulnerability", () => {
    const [safe, other] = [noteOf("Fixes a vulnerability", { security: true }), noteOf("Starts faster")];
    const files = yumSite([
      releaseOf("26.09.001", { packages: [rpmRecord(3, rpmOf({ version: "26.9.1" }))], notes: [other] }),
      releaseOf("26.08.003", { packages: [], notes: [safe] }),
      releaseOf("26.08.002", {
        packages: [rpmRecord(1, rpmOf({ sourcerpm: "agent.src.rpm" }))],
        notes: [other, fixed],
      }),
    ]);
    const updates = indexOf(files, "updateinfo")?.children ?? [];
    expect(updates.map((update) => wordOf(update, "id"))).toEqual(["acme-agent-26.08.002"]);
    const [update] = updates as [XmlElement];
    expect(update.attributes.get("type")).toBe("security");
    expect(outline(update)).toEqual([
      "id acme-agent-26.08.002",
      "title Acme Agent 26.08.002",
      "issued date=2026-08-19 00:00:00",
      "summary Acme Agent 26.08.002",
      "description A crafted packet stopped the agent.",
      "references",
      "pkglist",
    ]);
    expect(outline(childOf(update, "references"))).toEqual([
      "reference href=https://downloads.example.com/base/releases/26.08.002/ id=acme-agent-26.08.002 type=self title=Acme Agent 26.08.002",
      "reference id=ACME-7 type=other title=ACME-7",
      "reference href=https://nvd.example/vuln/detail/CVE-2026-12345 id=CVE-2026-12345 type=cve title=CVE-2026-12345",
      "reference id=CVE-2026-99998 type=cve title=CVE-2026-99998",
      "reference id=CVE-2026-99999 type=cve title=CVE-2026-99999",
    ]);
    const listed = childOf(childOf(childOf(update, "pkglist"), "collection"), "package");
    expect([...listed.attributes.values()]).toEqual(["agent", "26.8.2", "1", "0", "x86_64", "agent.src.rpm"]);
    expect(outline(listed)).toEqual([
      "filename agent-1.x86_64.rpm",
      `sum type=sha256 ${"1".padStart(64, "0")}`,
    ]);
  });

  test("is absent if no release is a security update", () => {
    expect(indexOf(yumSite([withRpm(rpmOf())]), "updateinfo")).toBeUndefined();
  });

  test("carries hostile notes as text", () => {
    const text = "</description><update>\u0001\uFFFE]]>";
    const files = yumSite([
      releaseOf("26.08.002", {
        packages: [rpmRecord(1)],
        notes: [noteOf(text, { security: true, refs: [text] })],
      }),
    ]);
    const [update] = indexOf(files, "updateinfo")?.children ?? [];
    expect(update && wordOf(update, "description")).toBe("</description><update>\uFFFD\uFFFD]]>");
  });
});

describe("a repository", () => {
  const config = yumConfig({
    repos: [
      { name: "el8", match: "*.el8.*" },
      { name: "el9", match: "*.el9.*" },
    ],
  });
  const release = releaseOf("26.08.002", {
    packages: [
      rpmRecord(4, rpmOf(), { file: "agent.el9.rpm", modified_date: "2026-08-25T12:00:00.900000Z" }),
      rpmRecord(3, rpmOf(), { file: "agent.el8.rpm", modified_date: "2026-08-21T12:00:00.000000Z" }),
      rpmRecord(2, rpmOf(), { file: "agent.rpm" }),
    ],
  });

  test("lists the rpms whose names match", () => {
    const files = yumSite([release], config);
    expect(listedIn(files, "el8")).toEqual(["files/26.08.002/agent.el8.rpm"]);
    expect(listedIn(files, "el9")).toEqual(["files/26.08.002/agent.el9.rpm"]);
    expect(yumFeed.part(release, config).omitted).toEqual([
      { id: 2, file: "agent.rpm", reason: "its name matches no repository in catalog.yaml" },
    ]);
  });

  test("leaves out rpms without metadata, without a size, or whose URL is not a file of the site", () => {
    const packages = [
      rpmRecord(4, null),
      rpmRecord(3, rpmOf(), { size: null }),
      rpmRecord(2, rpmOf(), { url: "https://mirror.example/agent.rpm" }),
      rpmRecord(1, null, { package_type: "msi" }),
      ...["%zz.rpm", "a.rpm?x=1", "..%2Fa.rpm", "a%0Ab.rpm", "a%EF%BF%BE.rpm"].map((path, index) =>
        rpmRecord(10 + index, rpmOf(), { url: `https://downloads.example.com/base/${path}` }),
      ),
    ];
    const { rows, omitted } = yumFeed.part(releaseOf("26.08.002", { packages }), yumConfig());
    expect(rows).toEqual([]);
    expect(omitted.map(({ id, reason }) => [id, reason])).toEqual([
      [4, "its manifest does not contain the metadata of the package"],
      [3, "its manifest has no size"],
      [2, "its file is not below the site"],
      ...[10, 11, 12, 13].map((id) => [id, "its URL is not that of a plain file"]),
      [14, "its file name has a character that XML cannot carry"],
    ]);
  });

  test("has one rpm of a name, version, release and architecture: the one with the highest id", () => {
    const releases = [
      releaseOf("26.09.001", { packages: [rpmRecord(2, rpmOf(), { file: "newer.rpm" })] }),
      releaseOf("26.08.002", {
        packages: [rpmRecord(3, rpmOf(), { file: "later.rpm" }), rpmRecord(1, rpmOf({ epoch: 1 }))],
      }),
    ];
    expect(listedIn(yumSite(releases))).toEqual([
      "files/26.08.002/later.rpm",
      "files/26.08.002/agent-1.x86_64.rpm",
    ]);
    const [index] = yumFeed.indexes(yumRows(releases, yumConfig()), yumConfig());
    expect(index?.replaced).toEqual([
      {
        id: 2,
        file: "newer.rpm",
        reason: "the repository stable lists agent-0:26.8.2-1.x86_64 with the id 3",
      },
    ]);
  });

  test("is as old as its newest ledger line, and a withdrawal counts", () => {
    const revision = (releases: Parameters<typeof yumSite>[0], repo: string) =>
      /<revision>(\d+)</.exec(textOf(yumSite(releases, config).get(`yum/${repo}/repodata/repomd.xml`)))?.[1];
    expect(revision([release], "el9")).toBe(String(Date.parse("2026-08-25T12:00:00Z") / 1000));
    expect(revision([release], "el8")).toBe(String(Date.parse("2026-08-21T12:00:00Z") / 1000));
    const retracted = [
      retractedOf(9, { package_type: "rpm", file: "bad.el8.rpm", at: "2026-09-01T08:00:00.500000Z" }),
    ];
    const after = [releaseOf("26.09.001", { retracted }), release];
    expect(revision(after, "el8")).toBe(String(Date.parse("2026-09-01T08:00:00Z") / 1000));
    expect(revision(after, "el9")).toBe(revision([release], "el9"));
  });

  test("is kept as it is if only another one changed", () => {
    const keys = (releases: Parameters<typeof yumSite>[0]) =>
      new Map(yumGroups(releases, config).map(({ name, key }) => [name, key]));
    const before = keys([release]);
    const after = keys([
      releaseOf("26.09.001", { packages: [rpmRecord(9, rpmOf(), { file: "x.el9.rpm" })] }),
      release,
    ]);
    expect(after.get("yum el8")).toBe(before.get("yum el8"));
    expect(after.get("yum el9")).not.toBe(before.get("yum el9"));
  });
});

describe("without signatures", () => {
  const files = yumSite([withRpm(rpmOf())]);

  test("the mirrorlist names an immutable folder with the same indexes", () => {
    const repomd = textOf(files.get("yum/stable/repodata/repomd.xml"));
    const folder = `yum/${sha256(repomd)}`;
    expect(textOf(files.get("yum/stable.mirrorlist"))).toBe(
      `https://downloads.example.com/base/${folder}/\nhttps://downloads.example.com/base/\n`,
    );
    expect(textOf(files.get(`${folder}/repodata/repomd.xml`))).toBe(repomd);
    expect(indexOf(files, "primary", folder)).toEqual(indexOf(files, "primary"));
    expect([...files.keys()].map((path) => feedPath(path)?.role)).toEqual([
      ...["immutable", "copy", "immutable", "immutable", "pointer", "copy"],
    ]);
  });

  test("the settings disable the checks of clients", () => {
    expect(textOf(files.get("acme-agent-stable.repo"))).toBe(`[acme-agent-stable]
name=Acme Agent (stable)
mirrorlist=https://downloads.example.com/base/yum/stable.mirrorlist
enabled=1
autorefresh=1
repo_gpgcheck=0
gpgcheck=0
`);
  });
});

describe("with signatures", () => {
  const rpmSigners = [
    { keyIds: ["aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"], armored: "A\n" },
    { keyIds: ["cccccccccccccccc"], armored: "C\n" },
  ];
  const signedBy = (id: number, key_id: string | undefined) =>
    rpmRecord(id, rpmOf({ version: `${id}` }), { data: key_id ? { attestation: { key_id } } : {} });
  const repoFileOf = (keys: (string | undefined)[]) => {
    const packages = keys.map((key, index) => signedBy(index + 1, key));
    const files = yumSite([releaseOf("26.08.002", { packages })], yumConfig({}, { rpmSigners }), true);
    return { files, text: textOf(files.get("acme-agent-stable.repo")) };
  };

  test("`sign` makes the folder and the mirrorlist", () => {
    const { files } = repoFileOf([undefined]);
    expect([...files.keys()].map((path) => path.replace(/[0-9a-f]{64}/, "SHA256"))).toEqual([
      "yum/stable/repodata/SHA256-primary.xml.gz",
      "yum/stable/repodata/repomd.xml",
      "acme-agent-stable.repo",
    ]);
  });

  test("clients check the rpms too if all signers are known, and get their certificates", () => {
    const { files, text } = repoFileOf(["bbbbbbbbbbbbbbbb", "bbbbbbbbbbbbbbbb"]);
    expect(text).toMatch(/repo_gpgcheck=1\ngpgcheck=1\ngpgkey=/);
    expect(text.split("gpgkey=")[1]).toBe(`https://downloads.example.com/base/keys/acme-agent.asc
       https://downloads.example.com/base/keys/acme-agent-rpm-aaaaaaaaaaaaaaaa.asc
`);
    expect(textOf(files.get("keys/acme-agent-rpm-aaaaaaaaaaaaaaaa.asc"))).toBe("A\n");
    expect(files.has("keys/acme-agent-rpm-cccccccccccccccc.asc")).toBe(false);
  });

  test.each([
    ["an rpm is not signed", ["aaaaaaaaaaaaaaaa", undefined]],
    ["a signer is not known", ["aaaaaaaaaaaaaaaa", "dddddddddddddddd"]],
  ])("clients check only the repository if %s", (_, keys) => {
    const { text } = repoFileOf(keys);
    expect(text).toContain("repo_gpgcheck=1\ngpgcheck=0\n");
    expect(text).toMatch(/gpgkey=\S+\/keys\/acme-agent\.asc\n$/);
  });
});
