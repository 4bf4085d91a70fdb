import { readKeys } from "openpgp";
import { expect, test } from "vitest";
import type { FeedKey } from "../../../pipeline/documents/feeds/keys.ts";
import { changedOrigin } from "../../../pipeline/site/feeds/apt.ts";
import { newKey } from "../../support/openpgp.ts";
import { debOf, repositoryOf, suiteOf } from "./debs.ts";

const since = "2026-08-01T00:00:00Z";

test("unsigned, a suite is trusted by its settings; signed, sign completes Release", async () => {
  const key: FeedKey = { fingerprint: "A".repeat(40), armored: "", state: "signing", since };
  const unsigned = repositoryOf([debOf(1)]);
  expect(
    unsigned.text("example-controller-stable.sources"),
  ).toBe(`# Example Controller for stable. To use this repository:
#   curl -fsSL https://downloads.example.com/base/example-controller-stable.sources -o /etc/apt/sources.list.d/example-controller-stable.sources
Types: deb
URIs: https://downloads.example.com/base/
Suites: stable
Components: main
Architectures: amd64
Trusted: yes
`);
  const signed = repositoryOf([debOf(1)], { isSigned: true, config: { feedKeys: [key] } });
  expect(signed.files.has("dists/stable/Release")).toBe(false);
  expect(signed.text("dists/stable/Release.undated")).toBe(
    unsigned.text("dists/stable/Release").replace(/^Date: .*\n/m, ""),
  );
});

async function newCertificate(): Promise<Pick<FeedKey, "fingerprint" | "armored">> {
  const key = await newKey();
  return { fingerprint: key.getFingerprint().toUpperCase(), armored: key.toPublic().armor() };
}

test("the settings of a signed suite contain all certificates in one block, or name a file where apt is older", async () => {
  const [one, two, gone] = await Promise.all([newCertificate(), newCertificate(), newCertificate()]);
  const feedKeys: FeedKey[] = [
    { ...one, state: "signing", since },
    { ...two, state: "announced", since },
    { ...gone, state: "retired", since },
  ];
  const suites = [suiteOf("jammy"), suiteOf("old", "20.04"), suiteOf("bullseye")];
  const { text } = repositoryOf([debOf(1)], { isSigned: true, suites, config: { feedKeys } });
  const inline = text("example-controller-jammy.sources").split("Signed-By:\n")[1] ?? "";
  const armored = inline.replaceAll(/^ \.?/gm, "");
  expect(armored.match(/BEGIN/g)).toHaveLength(1);
  const read = await readKeys({ armoredKeys: armored });
  expect(read.map((certificate) => certificate.getFingerprint().toUpperCase())).toEqual([
    one.fingerprint,
    two.fingerprint,
  ]);
  for (const suite of ["old", "bullseye"])
    expect(text(`example-controller-${suite}.sources`)).toMatch(
      /\nSigned-By: \/etc\/apt\/keyrings\/example-controller\.asc\n$/,
    );
});

test("a change of Origin or Label is found, in a signed file too", () => {
  const live =
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nOrigin: Acme\nLabel: Acme\nSuite: jammy\n";
  expect(changedOrigin(live, "Origin: Acme\nLabel: Acme\n")).toEqual([]);
  expect(changedOrigin(live, "Origin: Acme\nLabel: Acme Tools\n")).toEqual([
    { field: "Label", live: "Acme", next: "Acme Tools" },
  ]);
});
