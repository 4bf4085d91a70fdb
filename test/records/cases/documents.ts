import { Buffer } from "node:buffer";
import { client, json, manifest, releaseDocument } from "../../support/catalog.ts";
import { type Case, chartLines, withClient, withYaml } from "./case.ts";

/** Files that cannot be read as documents, and documents with the wrong parts. */
export const documentCases: Case[] = [
  {
    behaviour: "a file that is not UTF-8 is refused at its first wrong byte",
    files: { "26.08.001/manifests/client.json": Buffer.from('{\n  "release": "caf\xe9"}', "latin1") },
    problems: [
      "26.08.001/manifests/client.json:2:18 error[file-encoding] the file is not UTF-8, expected UTF-8 text" +
        "\n  Save it as UTF-8; binary files do not belong here.",
    ],
  },
  {
    behaviour: "a byte order mark is refused in JSON",
    files: { "26.08.001/manifests/client.json": `\uFEFF${json(manifest([client()]))}` },
    problems: [
      "26.08.001/manifests/client.json:1:1 error[file-encoding] the file starts with a byte order mark, expected UTF-8 text" +
        "\n  Save it as UTF-8 without BOM.",
    ],
  },
  {
    behaviour: "a NUL byte is refused",
    files: { "26.08.001/release.yaml": "version: 26.08.001\ndate: \0" },
    problems: [
      "26.08.001/release.yaml:2:7 error[file-encoding] the file contains a NUL byte, expected UTF-8 text" +
        "\n  Is it a binary file?",
    ],
  },
  {
    behaviour: "a document of several megabytes is refused unread",
    files: { "26.08.001/release.yaml": "#".repeat(1_048_577) },
    problems: [
      "26.08.001/release.yaml:1:1 error[file-size] the file has 1048577 bytes, expected at most 1048576" +
        "\n  Split it: any number of manifests and fragments may be in the same folder.",
    ],
  },
  {
    behaviour: "an unexpected file is reported at any place",
    files: {
      "catalog.yml": "",
      "next/notes.yaml": "",
      "26.08.001/manifests/deeper/client.json": "",
      "26.08.001/notes/note.json": "",
    },
    problems: [
      "26.08.001/manifests/deeper/client.json:1:1 error[file-unexpected] the file has no place here, expected release.yaml, notes/*.yaml and manifests/*.json, *.yaml or *.yml" +
        "\n  Move, rename or remove it.",
      "26.08.001/notes/note.json:1:1 error[file-unexpected] the file has no place here, expected release.yaml, notes/*.yaml and manifests/*.json, *.yaml or *.yml" +
        "\n  Move, rename or remove it.",
      "catalog.yml:1:1 error[file-unexpected] the file has no place here, expected catalog.yaml, ledger.jsonl, exceptions.yaml, brand/, next/, signers/, templates/, trust/ and one folder per version" +
        "\n  Move, rename or remove it.",
      "next/notes.yaml:1:1 error[file-unexpected] the file has no place here, expected next/notes/*.yaml" +
        "\n  Move, rename or remove it.",
    ],
  },
  {
    behaviour: "JSON that ends too early is reported at its end",
    files: { "26.08.001/manifests/client.json": '{\n  "release": "26.08.001",\n' },
    problems: [
      "26.08.001/manifests/client.json:3:1 error[json-syntax] the JSON ends too early" +
        "\n  Was it written or copied only in part?",
    ],
  },
  {
    behaviour: "a comment in JSON is reported",
    files: { "26.08.001/manifests/client.json": '{\n  // a comment\n  "release": "26.08.001" }' },
    problems: [
      "26.08.001/manifests/client.json:2:3 error[json-syntax] not valid JSON: a comment" +
        "\n  JSON has none: remove it, or write YAML.",
    ],
  },
  {
    behaviour: "YAML that is not YAML is reported with the library's words",
    files: withYaml("- name: a: b"),
    problems: [
      "26.08.001/manifests/hand.yaml:3:9 error[yaml-syntax] not valid YAML: a second colon in one value" +
        '\n  Write text that contains ": " in quotes.',
    ],
  },
  {
    behaviour: "a tab as indentation is reported",
    files: withYaml("\t- name: a"),
    problems: [
      "26.08.001/manifests/hand.yaml:3:1 error[yaml-syntax] a tab is used as indentation" +
        "\n  Indent with spaces.",
    ],
  },
  {
    behaviour: "a merge key is reported",
    files: withYaml("- &one", ...chartLines.map((line) => `  ${line.slice(2)}`), "- <<: *one", "  name: two"),
    problems: [
      "26.08.001/manifests/hand.yaml:7:3 error[yaml-syntax] merge keys (<<) are not part of YAML 1.2" +
        "\n  Write the keys out, or use a whole alias as a value.",
    ],
  },
  {
    behaviour: "an alias without its anchor is reported",
    files: withYaml("- *one"),
    problems: [
      "26.08.001/manifests/hand.yaml:3:3 error[yaml-syntax] the alias *one has no anchor &one before it" +
        "\n  Quote text that starts with *.",
    ],
  },
  {
    behaviour: "a second document is reported",
    files: { "26.08.001/release.yaml": "version: 26.08.001\n---\ndate: 2026-08-19\n" },
    problems: [
      "26.08.001/release.yaml:2:1 error[yaml-syntax] the file contains more than one document" +
        "\n  Keep one document per file; remove the `---`.",
    ],
  },
  {
    behaviour: "a tag is reported",
    files: withYaml("- !package"),
    problems: [
      "26.08.001/manifests/hand.yaml:3:3 error[yaml-syntax] tags (!) are not supported" +
        "\n  Write the plain value; quote text that starts with !.",
    ],
  },
  {
    behaviour: "a repeated key in YAML is reported at its second place",
    files: withYaml(...chartLines, "  name: again"),
    problems: [
      '26.08.001/manifests/hand.yaml:6:3 error[duplicate-key] the key "name" occurs twice in one object, first at line 3, column 3' +
        "\n  Remove one of them: readers disagree about which one counts.",
    ],
  },
  {
    behaviour: "a repeated key in JSON is reported even if it is spelled differently",
    files: {
      "26.08.001/manifests/client.json": '{ "release": "26.08.001",\n"\\u0072elease": "", "artifacts": [] }',
    },
    problems: [
      '26.08.001/manifests/client.json:2:1 error[duplicate-key] the key "release" occurs twice in one object, first at line 1, column 3' +
        "\n  Remove one of them: readers disagree about which one counts.",
    ],
  },
  {
    behaviour: "values that are nested too deep are reported at the first excess level",
    files: withYaml(`- ${"[".repeat(70)}${"]".repeat(70)}`),
    problems: [
      "26.08.001/manifests/hand.yaml:3:65 error[nesting-depth] values are nested more than 64 levels deep, expected fewer" +
        "\n  No document of a catalog is that deep: is it the right file?",
    ],
  },
  {
    behaviour: "aliases that multiply are reported",
    files: withYaml("- &a [1, 2, 3, 4]", ...Array.from({ length: 101 }, () => "- *a")),
    problems: [
      "26.08.001/manifests/hand.yaml:4:3 error[alias-expansion] aliases repeat anchors more than 100 times, or by more than the file's own length" +
        "\n  Write the values out instead of repeating anchors of anchors.",
    ],
  },
  {
    behaviour: "a key that YAML reads as a number is reported",
    files: { "catalog.yaml": "platforms:\n  11: KVM\n" },
    problems: [
      "catalog.yaml:2:3 error[key-not-text] a key is the bare 11, expected text" + '\n  Quote it: "11".',
    ],
  },
  {
    behaviour: "a version that YAML reads as a number is reported with its spelling",
    files: withYaml(...chartLines, "  min_os_version: 22.10"),
    problems: [
      "26.08.001/manifests/hand.yaml:6:19 error[unquoted-number] artifacts[0].min_os_version is the number 22.1, expected text" +
        '\n  Quote it: "22.10" (YAML reads 22.10 as 22.1).',
    ],
  },
  {
    behaviour: "a checksum of digits is reported if YAML reads it as a number",
    files: withYaml("- name: extra.tgz", "  package_type: helm", `  sha256: ${"5".repeat(64)}`),
    problems: [
      "26.08.001/manifests/hand.yaml:5:11 error[unquoted-number] artifacts[0].sha256 is the number 5.5555555555555555e+63, expected text" +
        '\n  Quote it: "5555555555555555555555555555555555555555555555555555555555555555" (YAML reads 5555555555555555555555555555555555555555555555555555555555555555 as 5.5555555555555555e+63).',
    ],
  },
  {
    behaviour: "a word that YAML reads as true is reported in a text field",
    files: withYaml(...chartLines, "  description: true"),
    problems: [
      "26.08.001/manifests/hand.yaml:6:16 error[text-format] artifacts[0].description is true, expected text" +
        '\n  If it is meant as text, quote it: "true".',
    ],
  },
  {
    behaviour: "a key without a value is reported",
    files: withYaml(...chartLines, "  description:"),
    problems: [
      "26.08.001/manifests/hand.yaml:6:15 error[text-format] artifacts[0].description is null, expected text" +
        "\n  Write a value, or leave the key out.",
    ],
  },
  {
    behaviour: "an unknown key is reported with the key it resembles",
    files: withClient({ pakage_type: "deb" }),
    problems: [
      '26.08.001/manifests/client.json:30:7 error[unknown-key] the key "pakage_type" is not known in artifacts[0]' +
        "\n  Did you mean package_type?",
    ],
  },
  {
    behaviour: "an unknown key that resembles nothing is reported with the known keys",
    files: { "26.08.001/release.yaml": releaseDocument({ colour: "red" }) },
    problems: [
      '26.08.001/release.yaml:4:3 error[unknown-key] the key "colour" is not known' +
        "\n  Known keys: version, date, corrected, opened, revs, summary, notes.",
    ],
  },
  {
    behaviour: "the key __proto__ is reported, in tables too",
    files: { "catalog.yaml": "platforms:\n  __proto__: KVM\n" },
    problems: [
      'catalog.yaml:2:3 error[unknown-key] the key "__proto__" is not known in platforms' + "\n  Remove it.",
    ],
  },
  {
    behaviour: "a missing key is reported at the object that lacks it",
    files: withClient({ package_type: undefined }),
    problems: [
      "26.08.001/manifests/client.json:4:5 error[missing-key] the key package_type is missing in artifacts[0], expected 1 to 32 lowercase letters, digits and dashes, but not index, as pages are called",
    ],
  },
  {
    behaviour: "a value of the wrong type is reported",
    files: withClient({ gui_only: "yes" }),
    problems: [
      '26.08.001/manifests/client.json:30:19 error[wrong-type] artifacts[0].gui_only is "yes", expected true or false',
    ],
  },
  {
    behaviour: "an empty document is reported",
    files: { "26.08.001/notes/empty.yaml": "# Later.\n" },
    problems: ["26.08.001/notes/empty.yaml:1:1 error[wrong-type] the document is empty, expected an object"],
  },
  {
    behaviour: "a document of the wrong type is reported",
    files: { "26.08.001/manifests/client.json": "[]\n" },
    problems: [
      "26.08.001/manifests/client.json:1:1 error[wrong-type] the document is a list, expected an object",
    ],
  },
];
