import { describe, expect, test } from "vitest";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { readMetadata } from "../../inspect/metadata.ts";
import { refuteMetadata } from "../../pipeline/policy/prove-metadata.ts";
import type { RpmMetadata } from "../../shared/package-metadata.ts";
import { integers, named, type RpmTag, rpmPackage, shorts, text, texts } from "../support/rpm.ts";

type Reading = { filelists?: boolean; changelogs?: boolean; signature?: RpmTag[] };

async function read(tags: readonly RpmTag[], more: Reading = {}) {
  const { filelists = false, changelogs, signature = [] } = more;
  const source = bytesSource(rpmPackage(sorted(tags), signature), "agent.rpm");
  return (await readMetadata(source, { kind: "client", filelists, changelogs })) as RpmMetadata;
}

const sorted = (tags: readonly RpmTag[]) => [...tags].sort((a, b) => a.tag - b.tag);

type Dependency = readonly [name: string, flags?: number, version?: string];
const dependencies = ([names, flags, versions]: readonly number[], ...all: Dependency[]): RpmTag[] => [
  texts(names ?? 0, ...all.map(([name]) => name)),
  integers(flags ?? 0, ...all.map(([, flag = 0]) => flag)),
  texts(versions ?? 0, ...all.map(([, , version = ""]) => version)),
];
const requires = (...all: Dependency[]) => dependencies([1049, 1048, 1050], ...all);
const provides = (...all: Dependency[]) => dependencies([1047, 1112, 1113], ...all);

type File = readonly [path: string, mode?: number, flags?: number];
const files = (...all: File[]): RpmTag[] => [
  shorts(1030, ...all.map(([, mode = 0o100644]) => mode)),
  integers(1037, ...all.map(([, , flags = 0]) => flags)),
  integers(1116, ...all.map((_, index) => index)),
  texts(1117, ...all.map(([path]) => path.slice(path.lastIndexOf("/") + 1))),
  texts(1118, ...all.map(([path]) => path.slice(0, path.lastIndexOf("/") + 1))),
];

test("the header is read, and what it lacks is left out", async () => {
  expect(await read(named)).toEqual({
    ...{
      type: "rpm",
      name: "agent",
      epoch: 0,
      version: "1.2.3",
      release: "1",
      arch: "amd64",
      native_arch: "x86_64",
    },
    ...{ summary: "", description: "", build_time: 0, size: { installed: 0, archive: 0 } },
    sourcerpm: "agent-1.2.3-1.src.rpm",
    ...{ header_range: [expect.any(Number), expect.any(Number)], files: [] },
    ...{ provides: [], requires: [], conflicts: [], obsoletes: [] },
    ...{ recommends: [], suggests: [], supplements: [], enhances: [] },
  });
  const all = await read(
    [
      ...named,
      integers(1003, 7),
      texts(1004, "short", "kurz"),
      text(1005, "long\n\ttext"),
      integers(1006, 1_700_000_000),
      text(1007, "host"),
      integers(1009, 4000),
      text(1020, "https://release.example/"),
    ],
    { signature: [integers(1007, 5000)] },
  );
  expect(all).toMatchObject({
    ...{ epoch: 7, summary: "short", description: "long\n\ttext", build_time: 1_700_000_000 },
    ...{ buildhost: "host", url: "https://release.example/", size: { installed: 4000, archive: 5000 } },
  });
});

test.each([
  ["x86_64", "amd64"],
  ["x86_64_v3", "amd64"],
  ["aarch64", "arm64"],
  ["armv7hl", "armhf"],
  ["i686", "i386"],
  ["ppc64le", "ppc64el"],
  ["riscv64", "riscv64"],
  ["s390x", "s390x"],
  ["armv5tel", "armel"],
  ["loongarch64", "loong64"],
  ["ppc64p7", "ppc64"],
  ["ppc", "powerpc"],
  ["mips64el", "mips64el"],
  ["noarch", "all"],
  // Debian has no name for it, but yum needs none.
  ["xtensa", undefined],
])("the architecture %s is %s", async (native, arch) => {
  const tags = [...named.filter(({ tag }) => tag !== 1022), text(1022, native)];
  const { arch: found, native_arch } = await read(tags);
  expect([found, native_arch]).toEqual([arch, native]);
});

test("source packages, which name no source package, have no metadata", async () => {
  const source = named.filter(({ tag }) => tag !== 1044);
  expect(await read([...source, integers(1106, 1)])).toBeUndefined();
  // Older versions of rpm did not write tag 1106.
  expect(await read(source)).toBeUndefined();
});

describe("dependencies", () => {
  test("have a comparison with epoch, version and release", async () => {
    const { provides: found } = await read([
      ...named,
      ...provides(
        ["a"],
        ["b", 8, "1"],
        ["c", 10, "2:1.0-3"],
        ["d", 12, ":1-2-3"],
        ["e", 2, "1"],
        ["f", 4, "1"],
        ["g", 8, "x:1:2"],
      ),
    ]);
    expect(found).toEqual([
      { name: "a" },
      { name: "b", flags: "EQ", epoch: "0", version: "1" },
      { name: "c", flags: "LE", epoch: "2", version: "1.0", release: "3" },
      { name: "d", flags: "GE", epoch: "0", version: "1", release: "2-3" },
      { name: "e", flags: "LT", epoch: "0", version: "1" },
      { name: "f", flags: "GT", epoch: "0", version: "1" },
      { name: "g", flags: "EQ", epoch: "0", version: "1:2" },
    ]);
  });

  test("on rpm itself, repeated ones and own ones are left out; those of scripts are marked", async () => {
    const { requires: found } = await read([
      ...named,
      ...provides(["own"], ["own-newer", 8, "2"]),
      ...files(["/usr/bin/agent"], ["/usr/share/agent"]),
      ...requires(
        ...([["rpmlib(CompressedFileNames)", 10, "3.0"], ["own"], ["own-newer", 12, "3"]] as const),
        ...([["/bin/sh", 1 << 9], ["/bin/sh", 1 << 10], ["twice"], ["twice"]] as const),
        ...([["/usr/bin/agent"], ["/usr/share/agent"], ["(a if b)"]] as const),
      ),
    ]);
    expect(found).toEqual([
      { name: "own-newer", flags: "GE", epoch: "0", version: "3" },
      { name: "/bin/sh", pre: true },
      { name: "twice" },
      { name: "/usr/share/agent" },
      { name: "(a if b)" },
    ]);
  });

  test("on symbols of the C library are one, the highest, at the end", async () => {
    const symbols = ["(GLIBC_2.4)", "(GLIBC_2.34)", "()", "(GLIBC_2.2.5)", "(GLIBC_PRIVATE)"];
    const { requires: found } = await read([
      ...named,
      ...requires(...symbols.map((symbol) => [`libc.so.6${symbol}(64bit)`] as const), ["zlib"]),
    ]);
    expect(found).toEqual([{ name: "zlib" }, { name: "libc.so.6(GLIBC_2.34)(64bit)" }]);
  });

  test("on symbols that no library has are read in a time that does not grow with their cube", async () => {
    const symbols = ["", "x"].map((end) => `libc.so.6(${".".repeat(2000)}${end}`);
    const tags = [...named, ...requires(...symbols.map((symbol) => [symbol] as const))];
    const before = process.cpuUsage();
    expect(await read(tags)).toMatchObject({ requires: [{ name: symbols[0] }] });
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });
});

const sharing = Array.from({ length: 1000 }, (_, index) => `${index}`);

test("files are those of primary.xml, or all on request", async () => {
  const tags = [
    ...named,
    ...files(
      ["/usr/bin/agent"],
      ["/etc/agent", 0o040755],
      ["/etc/agent/run", 0o100644, 1 << 6],
      ["/usr/lib/sendmail"],
      ["/usr/share/agent"],
    ),
  ];
  const primary = [
    { path: "/usr/bin/agent", type: "file" },
    { path: "/etc/agent", type: "dir" },
    { path: "/etc/agent/run", type: "ghost" },
    { path: "/usr/lib/sendmail", type: "file" },
  ];
  expect((await read(tags)).files).toEqual(primary);
  const every = [...primary, { path: "/usr/share/agent", type: "file" }];
  expect((await read(tags, { filelists: true })).files).toEqual(every);
});

test("metadata that is too large names the settings that add to it", async () => {
  const paths = Array.from({ length: 9000 }, (_, index): File => [`/usr/share/agent/${index}`]);
  const tags = [...named, ...files(...paths)];
  expect((await read(tags)).files).toEqual([]);
  await expect(read(tags, { filelists: true, changelogs: true })).rejects.toThrow(
    /^its metadata has \d+ bytes as JSON, with filelists and changelogs of feeds\.yum, expected 262144 at most$/,
  );
});

describe("changelogs", () => {
  const changes = (...all: [time: number, author: string, text: string][]): RpmTag[] => [
    integers(1080, ...all.map(([time]) => time)),
    texts(1081, ...all.map(([, author]) => author)),
    texts(1082, ...all.map(([, , text]) => text)),
  ];

  test("are read on request, and an rpm without one has none", async () => {
    const tags = [...named, ...changes([9, "Ada <ada@acme.example> - 2", "- Two\n  lines"], [8, "Bob", ""])];
    expect(await read(tags)).not.toHaveProperty("changelogs");
    expect((await read(tags, { changelogs: true })).changelogs).toEqual([
      { author: "Bob", time: 8, text: "" },
      { author: "Ada <ada@acme.example> - 2", time: 9, text: "- Two\n  lines" },
    ]);
    expect((await read(named, { changelogs: true })).changelogs).toEqual([]);
  });

  test("are the ten newest entries, and equal times become different", async () => {
    const times = [50, 40, 40, 40, 30, 20, 20, 10, 9, 8, 7, 6];
    const tags = [
      ...named,
      ...changes(...times.map((time) => [time, "Ada ", `${time}`] as [number, string, string])),
    ];
    const { changelogs = [] } = await read(tags, { changelogs: true });
    expect(changelogs.map(({ time }) => time)).toEqual([8, 9, 10, 20, 21, 30, 40, 41, 42, 50]);
    expect(new Set(changelogs.map(({ author }) => author))).toEqual(new Set(["Ada"]));
  });

  test("are compared with the file if the manifest has them", async () => {
    const tags = [...named, ...changes([9, "Ada", "- One"])];
    const stated = await read(tags, { changelogs: true });
    const refute = (metadata: RpmMetadata) =>
      refuteMetadata(metadata, bytesSource(rpmPackage(sorted(tags)), "agent.rpm"), { kind: "client" });
    expect(await refute(stated)).toBeUndefined();
    expect(await refute(await read(tags))).toBeUndefined();
    const other = { ...stated, changelogs: [{ author: "Ada", time: 9, text: "- Two" }] };
    expect(await refute(other)).toContain('changelogs.0.text "- Two" ↔ "- One"');
  });
});

test("a text that is not UTF-8 is read as ISO 8859-1 without symbols, and only that text", async () => {
  const latin = (tag: number, ...values: string[]): RpmTag => ({
    ...texts(tag, ...values),
    bytes: Buffer.from(`${values.join("\0")}\0`, "latin1"),
  });
  const utf8 = Buffer.from("zlib-ü").toString("latin1");
  const tags = [
    ...named,
    { ...latin(1004, "B\xe4r \x93\xb9\x94"), type: 6 },
    latin(1049, "f\xfcr", utf8),
    integers(1048, 0, 0),
    texts(1050, "", ""),
  ];
  const found = await read(tags);
  expect(found.summary).toBe("Bär ");
  expect(found.requires).toEqual([{ name: "für" }, { name: "zlib-ü" }]);
});

describe("a header is refused", () => {
  const other = (tag: number, value: string) => [
    ...named.filter((each) => each.tag !== tag),
    text(tag, value),
  ];
  test.each<[string, readonly RpmTag[], string]>([
    [
      "with a control character in the summary",
      [...named, text(1004, "\x07")],
      "its summary is not text without control characters",
    ],
    ["with an escape in the description", [...named, text(1005, "\x1b[2J")], "its description is not text"],
    [
      "with a noncharacter, which XML cannot express",
      [...named, text(1005, "\uffff")],
      "its description is not text",
    ],
    ["with two lines in the name", other(1000, "agent\nother"), "its name is not one line of text"],
    ["with a tab in the version", other(1001, "1\t2"), "its version is not one line of text"],
    [
      "with two lines in a dependency",
      [...named, ...requires(["a\nb"])],
      "its requires.0.name is not one line of text",
    ],
    [
      "with two lines in a path",
      [...named, ...files(["/usr/bin/a\nb"])],
      "its files.0.path is not one line of text",
    ],
    [
      "without a release",
      named.filter(({ tag }) => tag !== 1002),
      "does not say name, version, release and architecture",
    ],
    [
      "with fewer flags than names",
      [...named, texts(1049, "a", "b"), integers(1048, 0), texts(1050, "", "")],
      "tag 1049 has 2 names, tag 1048 1 flags",
    ],
    [
      "with a file in no folder",
      [...named, ...files(["/usr/bin/a"]).map((each) => (each.tag === 1116 ? integers(1116, 9) : each))],
      'folder, mode and flags of the file "a"',
    ],
    [
      "with thousands of files in a folder with a very long name",
      [
        ...named,
        shorts(1030, ...sharing.map(() => 0o100644)),
        integers(1037, ...sharing.map(() => 0)),
        integers(1116, ...sharing.map(() => 0)),
        texts(1117, ...sharing),
        texts(1118, `/etc/${"x".repeat(100_000)}/`),
      ],
      "the paths of its files have over 50000000 characters together",
    ],
    [
      "with a description of ten megabytes",
      [...named, text(1005, "x".repeat(10 << 20))],
      "bytes as JSON, expected 262144 at most",
    ],
    [
      "with millions of names",
      [...named, { ...texts(1117), count: 1 << 21, bytes: Buffer.alloc(1 << 21) }],
      "tag 1117 has 2097152 texts",
    ],
  ])("%s", async (_, tags, reason) => {
    await expect(read(tags)).rejects.toThrow(reason);
  });
});
