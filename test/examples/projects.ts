import { join } from "node:path";
import { repository } from "../support/run.ts";
import type { Example } from "./example.ts";

const artifacts = join(repository, "test/fixtures/artifacts");

const named = "echo 'channels: { stable: {}, beta: {} }' >>releases/catalog.yaml";

/** Work in the clone of releases-world.ts, without a site. */
export const projectExamples: Readonly<Record<string, Example>> = {
  "": {
    prints: /Started a project in demo\/[\s\S]*Built 1 release with 0 packages into dist\//,
    after: "test -f demo/dist/index.html",
  },
  init: { prints: /Started a project in demo\//, after: "test -f demo/releases/catalog.yaml" },
  new: {
    before: "relcat notes add --component server --kind fix 'It starts.'",
    prints: /Opened 26\.09\.002 .* with 1 note/,
    after: "grep -rq 'It starts' releases/26.09.002/notes",
  },
  ingest: {
    before: "rm -r releases/26.09.001/manifests",
    prints: /with 3 artifacts/,
    after: "grep -q tool-26.09.001_2204.deb releases/26.09.001/manifests/clients-*.json",
  },
  import: {
    before: "mkdir -p ../import/releases && echo 'product: Example' >../import/releases/catalog.yaml",
    in: "../import",
    prints: /Imported 1 new record/,
    after: "grep -q https://downloads.example.com/files/26.05.001/tool.tar.xz releases/26.05.001/manifests/*",
  },
  "notes show": { prints: /26\.09\.001[\s\S]*Starts faster\./ },
  "notes lint": { prints: /no problems in the notes/ },
  "notes add": {
    prints: /Wrote releases\/next\/notes\/the-list/,
    after: "grep -q 'The list no longer stalls.' releases/next/notes/*.yaml",
  },
  check: { prints: /the ledger only grew since origin\/main/ },
  status: { prints: /^26\.09\.001 +open[\s\S]*^prod .*live[\s\S]*Next: relcat cut 26\.09\.001/m },
  list: { prints: /26\.09\.001 +deb .*tool-26\.09\.001_2204\.deb/ },
  affected: {
    before:
      "mkdir -p releases/26.09.001/notes && printf 'component: server\\nkind: fix\\ntext: Fixed.\\nsecurity: { id: A-1, cve: [CVE-2026-12345], severity: high }\\n' >releases/26.09.001/notes/a.yaml",
    prints: /^- Fixed in 26\.09\.001: <code>A-1, CVE-2026-12345, severity high<\/code>$/m,
  },
  build: {
    prints: /Built 1 release with 3 packages into public\//,
    after: "test -f public/api/v1/package/index.json",
  },
  inspect: {
    before: `rm out/* && cp ${artifacts}/artifacts/deb/signed-ed25519.deb out && mkdir release-keys && cp ${artifacts}/keys/ed25519.asc release-keys`,
    prints: /^ok +deb +out\/signed-ed25519\.deb/m,
  },
  plan: {
    prints: /Records: 3 added[\s\S]*Next: relcat cut --plan plan\.json[\s\S]*New ids/,
    after: "grep -q tool-26.09.001_x64.msi releases/ledger.jsonl",
  },
  cut: { prints: /Committed as/, after: 'git diff --quiet && git log -1 --format=%s | grep "26.09.001"' },
  uncut: {
    before: "relcat cut 26.09.001",
    prints: /Removed 3 ledger lines of 26\.09\.001/,
    after: "! grep -q tool-26.09.001_x64.msi releases/ledger.jsonl",
  },
  "ledger rebase": {
    before: `relcat cut 26.09.001 --commit
git switch -qc theirs origin/main
mkdir releases/26.10.001 && echo '{"version": "26.10.001", "date": "2026-10-15"}' >releases/26.10.001/release.yaml
./build 26.10.001 && relcat ingest --release 26.10.001 out && relcat cut 26.10.001 --commit
git push -q origin theirs:main && git switch -q main`,
    prints: /CONFLICT[\s\S]*3 lines of ours follow/,
    after: "git commit -qm Merge && relcat check",
  },
  "channel list": { before: named, prints: /^stable \(default\) +26\.08\.001 +1 release$/m },
  "channel show": { before: named, prints: /^26\.08\.001 +offered$/m },
  "channel promote": {
    before: `${named} && relcat cut 26.09.001 && relcat channel promote 26.09.001 beta --yes`,
    answer: "y",
    prints: /Newest of stable: 26\.08\.001 → 26\.09\.001\.[\s\S]*Promoted/,
    after: `grep -q '"promote","channel":"stable","version":"26.09.001"' releases/ledger.jsonl`,
  },
  "channel halt": {
    before: `${named} && relcat cut 26.09.001`,
    answer: "y",
    prints: /Newest of stable: 26\.09\.001 → 26\.08\.001\.[\s\S]*Halted/,
    after: 'grep -q "Loses settings on update." releases/ledger.jsonl',
  },
  "channel resume": {
    before: `${named} && relcat cut 26.09.001 && relcat channel halt stable 26.09.001 --reason 'It stalls.' --yes`,
    answer: "y",
    prints: /Resumed 26\.09\.001 in stable/,
  },
  retract: {
    answer: "y",
    prints: /tool-26\.08\.001_x64\.msi[\s\S]*Retracted/,
    after: 'grep -q "Fails to start on Windows 11." releases/ledger.jsonl',
  },
  reinstate: {
    before: "relcat retract 2 --reason 'It does not start.' --yes",
    answer: "y",
    prints: /tool-26\.08\.001_2204\.deb[\s\S]*Reinstated 1 record/,
    after: "relcat list >listed && grep -q 26.08.001_2204 listed",
  },
  "templates list": { prints: /^home\.hbs /m },
  "templates show": { prints: /\{\{/ },
  "templates eject": {
    prints: /Wrote releases\/templates\/home\.hbs/,
    after: "test -f releases/templates/home.hbs",
  },
  schema: { prints: /"\$id": "urn:relcat:schema:manifest:1"/ },
  completion: { prints: /^complete .* relcat$/m, after: "complete -p relcat" },
};
