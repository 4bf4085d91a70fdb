import { execFileSync } from "node:child_process";
import { ledgerGrowthProblems, RelcatError } from "../../../pipeline/index.ts";
import { client, hex, manifest, type Releases } from "../../support/catalog.ts";
import { type Case, withClient } from "./case.ts";

const cutThen =
  (...steps: ((catalog: Releases) => unknown)[]) =>
  async (catalog: Releases) => {
    await catalog.cut();
    for (const step of steps) await step(catalog);
  };

const released = (catalog: Releases) => catalog.build({ released: true });
const check = async (catalog: Releases) => {
  const { problems } = await catalog.load();
  if (problems.length > 0) throw new RelcatError(problems);
};

/** Ledgers and manifests that contradict each other. Ids 1 to 3 are the deb, the chart and the image. */
export const changeCases: Case[] = [
  {
    behaviour: "published bytes that changed are reported with hints",
    files: {},
    action: cutThen(
      (catalog) => catalog.write(withClient({ sha256: hex("9"), attestation: { sha256: hex("9") } })),
      check,
    ),
    problems: [
      '26.08.001/manifests/client.json:4:5 error[bytes-changed] "tool_26.08.001_amd64.deb" is published as id 1 and cannot change: checksum 1111111111111111111111111111111111111111111111111111111111111111 → 9999999999999999999999999999999999999999999999999999999999999999' +
        "\n  Restore the manifest and publish the new bytes under the next version (relcat new 26.08), withdrawing the old ones if they are bad (relcat retract 1 --reason …); or, while no one else has them, take the cut back (relcat uncut 26.08.001).",
    ],
  },
  {
    behaviour: "a published package type that changed is reported",
    files: {},
    action: cutThen(
      (catalog) => catalog.write(withClient({ package_type: "xz", attestation: { sha256: hex("1") } })),
      check,
    ),
    problems: [
      '26.08.001/manifests/client.json:4:5 error[bytes-changed] "tool_26.08.001_amd64.deb" is published as id 1 and cannot change: package_type deb → xz' +
        "\n  Restore the manifest and publish the new bytes under the next version (relcat new 26.08), withdrawing the old ones if they are bad (relcat retract 1 --reason …); or, while no one else has them, take the cut back (relcat uncut 26.08.001).",
    ],
  },
  {
    behaviour: "a published record without its manifest is reported at its ledger line",
    files: {},
    action: cutThen((catalog) => catalog.write({ "26.08.001/manifests/chart.json": undefined }), check),
    problems: [
      'ledger.jsonl:2:1 error[record-vanished] the ledger has "tool-chart-26.08.001.tgz" of 26.08.001 as id 2, but no manifest names it' +
        "\n  Restore its manifest in 26.08.001/manifests/: merge the branch that cut it, or restore the file. To withdraw it, keep the manifest and run relcat retract 2 --reason ….",
    ],
  },
  {
    behaviour: "a published record whose manifest cannot be read is not reported twice",
    files: {},
    action: cutThen((catalog) => catalog.write({ "26.08.001/manifests/chart.json": "{" }), check),
    problems: [
      "26.08.001/manifests/chart.json:1:2 error[json-syntax] the JSON ends too early" +
        "\n  Was it written or copied only in part?",
    ],
  },
  {
    behaviour: "a public record cannot become private",
    files: {},
    action: cutThen((catalog) => catalog.write(withClient({ exclude_from_api: true })), check),
    problems: [
      '26.08.001/manifests/client.json:4:5 error[record-private] "tool_26.08.001_amd64.deb" is public as id 1 and cannot become private' +
        "\n  Withdraw it where everyone sees it: relcat retract 1 --reason …",
    ],
  },
  {
    behaviour: "a released build refuses a record that was changed since it was cut",
    files: {},
    action: cutThen((catalog) => catalog.write(withClient({ description: "Better." })), released),
    problems: [
      '26.08.001/manifests/client.json:4:5 error[content-not-cut] "tool_26.08.001_amd64.deb" (id 1) was changed since it was cut' +
        "\n  Make the change permanent (relcat cut 26.08.001), or revert it.",
    ],
  },
  {
    behaviour: "more revisions at once than allowed are refused",
    files: {},
    action: cutThen(
      (catalog) => catalog.write({ "catalog.yaml": { package_types: { deb: { description: "x" } } } }),
      (catalog) => catalog.cut({ allowRevise: 0 }),
    ),
    problems: [
      "error[revise-limit] 1 published records would change, expected at most 0" +
        "\n  A changed default or wire name in catalog.yaml does this; if it is meant, run with --allow-revise 1.",
    ],
  },
];

export const commandCases: Case[] = [
  {
    behaviour: "a version that does not exist cannot be cut",
    files: {},
    action: (catalog) => catalog.cut({ versions: ["26.08.009"] }),
    problems: [
      "error[version-unknown] there is no release 26.08.009" + "\n  See releases/ for the existing versions.",
    ],
  },
  {
    behaviour: "an id that does not exist cannot be retracted",
    files: {},
    action: cutThen((catalog) => catalog.retract({ ids: [9], reason: "Broken." })),
    problems: [
      "error[record-unknown] no record has the id 9" +
        "\n  relcat list --all shows the records and their ids; an id is permanent only after relcat cut.",
    ],
  },
  {
    behaviour: "an id that does not exist cannot be reinstated",
    files: {},
    action: cutThen((catalog) => catalog.reinstate([9])),
    problems: [
      "error[record-unknown] no record has the id 9" +
        "\n  relcat list --all shows the records and their ids; an id is permanent only after relcat cut.",
    ],
  },
  {
    behaviour: "a record that is not retracted cannot be reinstated",
    files: {},
    action: cutThen((catalog) => catalog.reinstate([1])),
    problems: [
      "error[nothing-to-reinstate] the id 1 is not withdrawn" +
        "\n  Nothing to undo: relcat list --all shows which records are withdrawn.",
    ],
  },
  {
    behaviour: "a reason of two lines is refused",
    files: {},
    action: cutThen((catalog) => catalog.retract({ ids: [1], reason: "Broken.\nVery." })),
    problems: [
      'error[text-format] the reason is "Broken.\\nVery.", expected one line of text' +
        "\n  Describe the problem in one sentence.",
    ],
  },
  {
    behaviour: "a replacement that is withdrawn by the same command is refused",
    files: {},
    action: cutThen((catalog) => catalog.retract({ ids: [1, 2], reason: "Broken.", replacedBy: 2 })),
    problems: [
      "error[replacement-unknown] the id 2 cannot be the replacement: it is withdrawn by the same command" +
        "\n  Name another public record, or leave --replaced-by for later.",
    ],
  },
  {
    behaviour: "a replacement that does not exist is refused",
    files: {},
    action: cutThen((catalog) => catalog.retract({ ids: [1], reason: "Broken.", replacedBy: 9 })),
    problems: [
      "error[replacement-unknown] the id 9 cannot be the replacement: there is no such id" +
        "\n  Name another public record, or leave --replaced-by for later.",
    ],
  },
  {
    behaviour: "a replacement that is retracted is refused",
    files: {},
    action: cutThen(
      (catalog) => catalog.retract({ ids: [2], reason: "Broken." }),
      (catalog) => catalog.retract({ ids: [1], reason: "Broken.", replacedBy: 2 }),
    ),
    problems: [
      "error[replacement-unknown] the id 2 cannot be the replacement: it is withdrawn itself" +
        "\n  Name another public record, or leave --replaced-by for later.",
    ],
  },
  {
    behaviour: "a replacement that is private is refused",
    files: {
      "26.08.001/manifests/inside.json": manifest([client({ name: "zz.deb", exclude_from_api: true })]),
    },
    action: cutThen((catalog) => catalog.retract({ ids: [1], reason: "Broken.", replacedBy: 2 })),
    problems: [
      "error[replacement-unknown] the id 2 cannot be the replacement: it is not public" +
        "\n  Name another public record, or leave --replaced-by for later.",
    ],
  },
  {
    behaviour: "a version without lines cannot be taken back",
    files: {},
    action: (catalog) => catalog.uncut("26.08.001"),
    problems: [
      "error[version-unknown] the ledger has no line of 26.08.001" +
        "\n  It is not cut; there is nothing to take back.",
    ],
  },
  {
    behaviour: "a version that is not the last cannot be taken back",
    files: {},
    action: cutThen(
      (catalog) => catalog.retract({ ids: [1], reason: "Broken." }),
      (catalog) => catalog.write({ "26.09.001/release.yaml": { version: "26.09.001", date: "2026-09-10" } }),
      (catalog) =>
        catalog.write({ "26.09.001/manifests/a.json": manifest([client({ name: "a.deb" })], "26.09.001") }),
      (catalog) => catalog.cut(),
      (catalog) => catalog.uncut("26.08.001"),
    ),
    problems: [
      "error[version-not-last] 26.08.001 is not the last in the ledger: 26.09.001 came after it" +
        "\n  Ids are given in order and never reused; take the later lines back first.",
    ],
  },
  {
    behaviour: "a version that the settled revision has cannot be taken back",
    files: {},
    action: cutThen(
      (catalog) => commitAll(catalog.folder),
      (catalog) => catalog.uncut("26.08.001", "HEAD"),
    ),
    problems: [
      "error[version-settled] 26.08.001 is settled: HEAD has its lines" +
        "\n  Withdraw single packages instead (relcat retract 26.08.001 --type … --reason …), or publish a new version.",
    ],
  },
  {
    behaviour: "a ledger that lost or changed a settled line is reported against the revision",
    files: {},
    action: cutThen(
      (catalog) => commitAll(catalog.folder),
      (catalog) => catalog.write({ "ledger.jsonl": catalog.read("ledger.jsonl").replace("tool", "fool") }),
      (catalog) => grown(catalog),
    ),
    problems: [
      "ledger.jsonl:1:1 error[ledger-rewritten] the line differs from HEAD, expected a ledger that only grows" +
        "\n  Restore it (git diff HEAD -- ledger.jsonl); events are appended, never changed.",
    ],
  },
  {
    behaviour: "a ledger that was cut off at a line's end is reported against the revision",
    files: {},
    action: cutThen(
      (catalog) => commitAll(catalog.folder),
      (catalog) => catalog.write({ "ledger.jsonl": catalog.read("ledger.jsonl").split(/(?<=\n)/)[0] ?? "" }),
      (catalog) => grown(catalog),
    ),
    problems: [
      "ledger.jsonl:2:1 error[ledger-rewritten] the ledger lacks the lines that HEAD has after line 1" +
        "\n  Run git merge HEAD. Where that is done already, lines were lost: git checkout HEAD -- ledger.jsonl",
    ],
  },
];

async function grown(catalog: Releases): Promise<void> {
  const { ledger: read } = await catalog.load();
  throw new RelcatError(await ledgerGrowthProblems(catalog.folder, read, "HEAD"));
}

function commitAll(folder: string): void {
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  for (const args of [
    ["init", "-q"],
    ["add", "."],
    ["commit", "-q", "-m", "All"],
  ]) {
    execFileSync("git", [...who, ...args], { cwd: folder });
  }
}
