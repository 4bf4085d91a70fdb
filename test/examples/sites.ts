import type { Example } from "./example.ts";
import { signedSecond } from "./releases-world.ts";

const root = "cp releases/trust/1.root.json root.json";

const live = "curl -sSfo live.json https://downloads.example.com/api/v1/package/index.json";

/** Signing and publishing from the clone of releases-world.ts. */
export const siteExamples: Readonly<Record<string, Example>> = {
  release: { prints: /26\.09\.001/, after: "! grep -q tool-26.09.001_x64.msi releases/ledger.jsonl" },
  upload: {
    before:
      "rm -r releases/26.09.001/manifests && relcat ingest --release 26.09.001 --out releases/26.09.001/manifests/clients.json out",
    prints: /3 /,
    after: "grep -q '\"url\"' releases/26.09.001/manifests/clients.json",
  },
  "trust init": {
    before: "rm -r releases/trust ~/relcat-keys",
    prints: /relcat-keys/,
    after: "test -f ~/relcat-keys/online.pem && test -f releases/trust/1.root.json",
  },
  "trust rotate": { prints: /online/, after: "test -f releases/trust/2.root.json" },
  "trust sign": { prints: /./ },
  "trust list": { prints: /online/ },
  sign: { prints: /Signed/, after: "test -f dist/metadata/timestamp.json" },
  verify: { before: root, prints: /https:\/\/downloads\.example\.com/ },
  download: { before: root, prints: /tool-26\.08\.001_2204\.deb/, after: "test -f tool-26.08.001_2204.deb" },
  publish: {
    before: signedSecond,
    prints: /Published/,
    after: `${live} && grep -q 26.09.001 live.json`,
  },
  history: { prints: /^live +[0-9a-f]{12} .* publish /m },
  rollback: {
    before: `${signedSecond} && relcat publish prod`,
    answer: "y",
    prints: /pages are blank|hold/,
    after: `${live} && ! grep -q 26.09.001 live.json`,
  },
  serve: {
    isServer: true,
    prints: /Serving dist/,
    until: /on http:\/\/127\.0\.0\.1:8080\/.*Ctrl-C stops it/,
  },
};
