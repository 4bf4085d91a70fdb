import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { configSchema } from "../../../pipeline/documents/config.ts";
import { ruleFor } from "../../../pipeline/intake/ingest/built-in-rules.ts";
import { useConfig } from "../../../pipeline/project/config.ts";
import { readDocument } from "../../../pipeline/project/document.ts";

function read(text: string) {
  const { document, problems } = readDocument({ file: "catalog.yaml", text }, configSchema);
  if (!document) throw new Error(JSON.stringify(problems));
  return useConfig(document);
}

const complaints = (text: string) =>
  read(text).problems.map(
    ({ at, code, message, hint }) => `${at?.line}:${at?.column} ${code}: ${message}\n→ ${hint}`,
  );

test("the first rule whose glob matches the whole name applies", () => {
  const { config } = read(`ingest:
  - { match: "*_2004_*.deb", package_type: deb, max_os_version: "20.04" }
  - { match: "*.{deb,rpm}", package_type: rpm }
  - { match: "client-[0-9]*", package_type: xz }
`);
  const typeOf = (file: string) => ruleFor(file, config)?.package_type;
  expect(typeOf("client_2004_amd64.deb")).toBe("deb");
  expect(typeOf("client_2204_amd64.deb")).toBe("rpm");
  expect(typeOf("client-26.tar.xz")).toBe("xz");
  expect(typeOf("the-client-26.tar.xz")).toBeUndefined();
  expect(typeOf("CLIENT.DEB")).toBeUndefined();
});

test("a rule's package type must be in the table, and can be a name of nixpkgs", () => {
  expect(
    complaints(
      'ingest: [{ match: "*.qcow2", package_type: qemu-efi }, { match: "*.tar", package_type: lxc }]\n',
    ),
  ).toEqual([]);
  expect(complaints('ingest:\n  - { match: "*.snap", package_type: snap }\n')).toMatchInlineSnapshot(`
    [
      "2:38 package-type-unknown: the package type snap is not known
    → Register it in catalog.yaml: package_types: { snap: { operating_system: linux, platform: 17, kind: client, description: … } }",
    ]
  `);
});

const raw = (bytes: number) => Buffer.alloc(bytes, 7).toString("base64");

test("a public key of Ed25519 is accepted", () => {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const key = `cache-1:${Buffer.from(x, "base64url").toString("base64")}`;
  const { config, problems } = read(`nix: { trusted_keys: ["${key}"] }\n`);
  expect(problems).toEqual([]);
  expect(config.trustedKeys).toEqual([key]);
});

test("an invalid public key is refused, and a secret key is not shown", () => {
  const secret = raw(64);
  const found = read(`nix:
  trusted_keys:
    - "cache-1:${secret}"
    - "cache-2:${raw(31)}"
    - "${raw(32)}"
    - "cache-3:${raw(32)}"
    - "cache-3:${raw(32)}"
`).problems;
  expect(
    found.map(({ at, code, message }) => `${at?.line}:${at?.column} ${code}: ${message}`),
  ).toMatchInlineSnapshot(`
    [
      "3:7 nix-key: the trusted key number 1 is a secret key: create a new pair, because anyone who reads this file can sign with this one",
      "4:7 nix-key: the trusted key number 2 has 31 bytes, expected the 32 of an Ed25519 public key",
      "5:7 nix-key: the trusted key number 3 is not name:base64",
      "7:7 nix-key: the trusted key number 5 has the name of an earlier one",
    ]
  `);
  expect(JSON.stringify(found)).not.toContain(secret.slice(0, 20));
});
