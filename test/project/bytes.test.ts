import { expect, test } from "vitest";
import { chart, client, image, json, manifest } from "../support/catalog.ts";
import { project, smallCatalog } from "../support/project.ts";
import { place, problemIn, problemInManifest } from "./complaint.ts";

const sound = json(manifest([client(), image()]));

const yamlManifest = `release: 26.08.001
artifacts:
  - name: "tool-é-🎉.tgz"
    package_type: helm
    sha256: "${"a".repeat(64)}"
    description: |
      Two lines,
      one text.
    only_for_account: null
`;

/** Title, bytes, message. */
const troubles: [string, Uint8Array, string][] = [
  [
    "UTF-16",
    Buffer.from(`\uFEFF${sound}`, "utf16le"),
    "1:1 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "UTF-16 without a mark",
    Buffer.from(sound, "utf16le"),
    "1:2 file-encoding the file contains a NUL byte, expected UTF-8 text",
  ],
  [
    "Latin-1",
    Buffer.from('{\n"é": 1}', "latin1"),
    "2:2 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "a character cut in two",
    Buffer.from("# 🎉 é").subarray(0, 8),
    "1:6 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "a surrogate as bytes",
    Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22]),
    "1:2 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "an overlong slash",
    Buffer.from([0x0a, 0xc0, 0xaf]),
    "2:1 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "a wrong byte after a replacement character",
    Buffer.concat([Buffer.from("# \uFFFD\n"), Buffer.from([0xff])]),
    "2:1 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "a NUL",
    Buffer.from("release: 26.08.001\nartifacts: \0"),
    "2:12 file-encoding the file contains a NUL byte, expected UTF-8 text",
  ],
  [
    "a gzip file",
    Buffer.from([0x1f, 0x8b, 0x08, 0, 0]),
    "1:2 file-encoding the file is not UTF-8, expected UTF-8 text",
  ],
  [
    "an ELF file",
    Buffer.from("\x7fELF\x02\x01\x01\0"),
    "1:8 file-encoding the file contains a NUL byte, expected UTF-8 text",
  ],
];

test.each(troubles)("%s is reported at its first byte, in both formats", (_, bytes, expected) => {
  expect(problemInManifest("yaml", bytes)).toBe(expected);
  expect(problemInManifest("json", bytes)).toBe(expected);
});

test("YAML may start with a byte order mark, which is not a column; JSON may not", () => {
  const marked = (text: string) => Buffer.from(`\uFEFF${text}`);
  expect(problemInManifest("yaml", marked(yamlManifest))).toBe("nothing");
  expect(problemInManifest("yaml", marked(yamlManifest.replaceAll("\n", "\r\n")))).toBe("nothing");
  expect(problemInManifest("yaml", marked(sound))).toBe("nothing");
  expect(problemInManifest("json", marked(sound))).toBe(
    "1:1 file-encoding the file starts with a byte order mark, expected UTF-8 text",
  );
  for (const broken of ["release: @", "releases: 1", "a: 1\na: 2", "a: \0"])
    expect(problemInManifest("yaml", marked(broken)), broken).toBe(problemInManifest("yaml", broken));
});

test("a project whose YAML files start with a byte order mark builds the same site", async () => {
  const [plain, marked] = [project(smallCatalog), project(smallCatalog)];
  for (const path of Object.keys(smallCatalog).filter((path) => path.endsWith(".yaml")))
    marked.write(path, `\uFEFF${marked.read(path)}`);
  for (const made of [plain, marked]) await made.succeed("build");
  expect(marked.read("dist/build.json")).toBe(plain.read("dist/build.json"));
});

test("columns count UTF-16 units, and lines end in LF or CR LF", () => {
  expect(place(problemIn("yaml", 'a: "🎉é" b'))).toBe("1:10 yaml-syntax");
  expect(place(problemIn("json", '["🎉é" 1]'))).toBe("1:8 json-syntax");
  expect(place(problemIn("yaml", "a: 1\r\nb: 2\r\na: 3\r\n"))).toBe("3:1 duplicate-key");
  expect(place(problemIn("json", '{"a": 1,\r\n"a": 2}'))).toBe("2:1 duplicate-key");
  expect(place(problemIn("yaml", "\n\n@"))).toBe("3:1 yaml-syntax");
});

test("both line endings read the same", () => {
  expect(problemInManifest("yaml", yamlManifest)).toBe("nothing");
  expect(problemInManifest("yaml", yamlManifest.replaceAll("\n", "\r\n"))).toBe("nothing");
  expect(problemInManifest("json", sound.replaceAll("\n", "\r\n"))).toBe("nothing");
});

test.each([
  ["json", json(manifest([chart({ description: "é 🎉" })]))],
  ["json", JSON.stringify(manifest([client()]))],
  ["yaml", yamlManifest],
  ["yaml", JSON.stringify(manifest([chart()]))],
] as const)(
  "a %s file that ends at any byte is a shorter document or a problem inside it",
  (format, text) => {
    const bytes = Buffer.from(text);
    expect(problemInManifest(format, bytes)).toBe("nothing");
    for (let length = 0; length < bytes.length; length++) {
      const rest = bytes.subarray(0, length);
      const said = problemInManifest(format, rest);
      if (said === "nothing") continue;
      const lines = rest.toString("utf8").split("\n");
      const [line = 0, column = 0] = said.split(" ", 1)[0]?.split(":").map(Number) ?? [];
      expect(line, said).toBeGreaterThan(0);
      expect(column, said).toBeGreaterThan(0);
      expect(line, said).toBeLessThanOrEqual(lines.length);
      expect(column, said).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
    }
  },
);

test("JSON without its last brace is never a valid document", () => {
  const text = json(manifest([chart()])).trimEnd();
  for (let length = 0; length < text.length; length++) {
    expect(place(problemInManifest("json", text.slice(0, length)))).toMatch(/ json-syntax$/);
  }
});

test("half of a surrogate pair is refused in a text", () => {
  const half = manifest([chart({ name: "a\ud83d.tgz" })]);
  expect(problemInManifest("json", json(half))).toMatch(
    /^5:15 name-format artifacts\[0\]\.name is "a\\ud83d\.tgz", expected/,
  );
  expect(problemInManifest("yaml", JSON.stringify(half))).toMatch(/^1:\d+ name-format/);
});
