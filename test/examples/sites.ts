import type { Example } from "./example.ts";
import { signedSecond } from "./releases-world.ts";

const root = "cp releases/trust/1.root.json root.json";

const live = "curl -sSfo live.json https://downloads.example.com/api/v1/package/index.json";

/** Signing and publishing from the clone of releases-world.ts. */
export const siteExamples: Readonly<Record<string, Example>> = {
  release: {
    prints: /\[5\/6\] publish\nWould publish dist\/ to prod/,
    after: "! grep -q tool-26.09.001_x64.msi releases/ledger.jsonl",
  },
  upload: {
    before:
      "rm -r releases/26.09.001/manifests && find ../../srv -name '*26.09.001*' -type f -delete && relcat ingest --release 26.09.001 --out releases/26.09.001/manifests/clients.json out",
    prints: /Uploaded 3 files to prod/,
    after: "grep -q '\"url\"' releases/26.09.001/manifests/clients.json",
  },
  "trust init": {
    before: "rm -r releases/trust ~/relcat-keys",
    prints: /Created .*relcat-keys\/online\.pem/,
    after: "test -f ~/relcat-keys/online.pem && test -f releases/trust/1.root.json",
  },
  "trust rotate": {
    prints: /wrote releases\/trust\/2\.root\.json/,
    after: "test -f releases/trust/2.root.json",
  },
  "trust sign": {
    // Signed almost a year ago.
    before: `rm -r releases/trust ~/relcat-keys
relcat trust init ~/relcat-keys --now "$(date -u -d '360 days ago' +%FT%TZ)"`,
    prints: /Wrote releases\/trust\//,
  },
  "trust list": { prints: /^online +version 1, until /m },
  sign: {
    before: "rm -r dist",
    prints: /Signed dist\/: [1-9]/,
    after: "test -f dist/metadata/timestamp.json",
  },
  verify: { before: root, prints: /Verified https:\/\/downloads\.example\.com: 1 release, 3 packages/ },
  download: {
    before: root,
    prints: /Downloaded tool-26\.08\.001_2204\.deb/,
    after: "test -f tool-26.08.001_2204.deb",
  },
  publish: {
    before: signedSecond,
    prints: /Published build [0-9a-f]+ to prod/,
    after: `${live} && grep -q 26.09.001 live.json`,
  },
  history: { prints: /^live +[0-9a-f]{12} .* publish /m },
  rollback: {
    before: `${signedSecond} && relcat publish prod`,
    answer: "y",
    prints: /Published build [0-9a-f]+ to prod[\s\S]*prod is on hold/,
    after: `${live} && ! grep -q 26.09.001 live.json`,
  },
  serve: {
    isServer: true,
    prints: /Serving dist/,
    until: /on http:\/\/127\.0\.0\.1:8080\/.*Ctrl-C stops it/,
  },
};
