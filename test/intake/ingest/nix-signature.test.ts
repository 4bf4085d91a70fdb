import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readNarinfo } from "../../../pipeline/intake/ingest/formats/narinfo.ts";
import { narHashOf } from "../../../pipeline/intake/ingest/formats/store-path.ts";
import { fingerprint, signatureProblems } from "../../../pipeline/intake/ingest/merge-evidence.ts";
import { temporaryFolder } from "../../support/run.ts";
import { artifactOf, file, image, problemsOf } from "./ingesting.ts";

const narinfo = readFileSync(file("narinfo/unsigned.narinfo"), "utf8");
const dependency = "/nix/store/1z0k8yb2xkxdr1ic5xyi0v1g1bi8hkzv-glibc-2.40-66";
const covered = `1;${image.path};sha256:09ymwqf5i9q7d4dm7x4pjjcqqj0qrcp5lnznbh42gfsci5hcbqqm;${image.size};${dependency}`;

function keyPair(name: string) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const { x = "" } = publicKey.export({ format: "jwk" });
  return {
    trusted: `${name}:${Buffer.from(x, "base64url").toString("base64")}`,
    sign: (text: string) =>
      `${name}:${sign(null, Buffer.from(text), privateKey as KeyObject).toString("base64")}`,
  };
}

const key = keyPair("cache.example.com-1");
const other = keyPair("elsewhere-1");

/** The fixtures' configuration with trusted keys. */
function trusting(...keys: string[]): { config: string; folder: string } {
  const folder = temporaryFolder();
  const config = join(folder, "catalog.yaml");
  const list = keys.map((each) => JSON.stringify(each)).join(", ");
  writeFileSync(config, `${readFileSync(file("catalog.yaml"), "utf8")}nix: { trusted_keys: [${list}] }\n`);
  return { config, folder };
}

function write(folder: string, name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

test("a signature covers path, hash, size and references", () => {
  const [object] = readNarinfo({ file: "x.narinfo", text: narinfo }).objects ?? [];
  expect(object && fingerprint(object)).toBe(covered);
});

test("a narinfo with a valid signature by a trusted key is accepted", async () => {
  const { config, folder } = trusting(other.trusted, key.trusted);
  const signed = write(folder, "a.narinfo", `${narinfo}Sig: ${key.sign(covered)}\n`);
  const { store } = await artifactOf([signed, image.file], { config });
  expect(store).toEqual({ path: image.path, size: image.size });
});

test.each(["list", "map", "version-2"])(
  "path-info, %s, with a valid signature is accepted",
  async (variant) => {
    const { config, folder } = trusting(key.trusted);
    const unsigned = readFileSync(file(`nix-path-info/${variant}.json`), "utf8");
    const signed = unsigned.replace(/cache\.example\.com-1:A+==/, key.sign(covered));
    const { store } = await artifactOf([write(folder, "info.json", signed), image.file], { config });
    expect(store?.size).toBe(image.size);
  },
);

test("path-info version 3 separates key and signature", async () => {
  const { config, folder } = trusting(key.trusted);
  const unsigned = readFileSync(file("nix-path-info/version-3.json"), "utf8");
  const signed = unsigned.replace(/"A+=="/, JSON.stringify(key.sign(covered).split(":")[1]));
  const { store } = await artifactOf([write(folder, "info.json", signed), image.file], { config });
  expect(store?.size).toBe(image.size);
});

test("without keys no signature is needed", async () => {
  expect((await artifactOf(["narinfo/forged.narinfo", image.file])).store?.size).toBe(image.size);
});

test("with keys, unsigned, forged and foreign signatures are refused", async () => {
  const { config, folder } = trusting(key.trusted);
  const foreign = write(folder, "foreign.narinfo", `${narinfo}Sig: ${other.sign(covered)}\n`);
  const problems = [
    ...(await problemsOf(["narinfo/unsigned.narinfo", image.file], { config })),
    ...(await problemsOf(["narinfo/forged.narinfo", image.file], { config })),
    ...(await problemsOf([foreign, image.file], { config })),
    ...(await problemsOf(["nix-path-info/map.json", image.file], { config })),
  ];
  expect(problems.map((problem) => problem.replaceAll(folder, ""))).toMatchInlineSnapshot(`
    [
      "narinfo/unsigned.narinfo:1:1 nix-signature: /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi is not signed
    → Take it from a store that signs with cache.example.com-1, or correct nix.trusted_keys in catalog.yaml.",
      "narinfo/forged.narinfo:1:1 nix-signature: /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi has a signature of cache.example.com-1 that does not match it: path, hash, size or references were changed
    → Take it from a store that signs with cache.example.com-1, or correct nix.trusted_keys in catalog.yaml.",
      "/foreign.narinfo:1:1 nix-signature: /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi is signed by elsewhere-1, which is not trusted
    → Take it from a store that signs with cache.example.com-1, or correct nix.trusted_keys in catalog.yaml.",
      "nix-path-info/map.json:2:70 nix-signature: /nix/store/asxd5d93x5rxmj6c9w970l1k36dj2rqq-controller-qcow-efi has a signature of cache.example.com-1 that does not match it: path, hash, size or references were changed
    → Take it from a store that signs with cache.example.com-1, or correct nix.trusted_keys in catalog.yaml.",
    ]
  `);
});

test.each([
  ["size", (text: string) => text.replace("NarSize: 4371958628", "NarSize: 4371958629")],
  ["references", (text: string) => text.replace(/References: .*/, "References:")],
  ["hash", (text: string) => text.replace("NarHash: sha256:09", "NarHash: sha256:19")],
  ["path", (text: string) => text.replace("controller-qcow-efi\n", "controller-qcow-bios\n")],
])("a signature does not fit another %s", (_, change) => {
  const text = change(`${narinfo}Sig: ${key.sign(covered)}\n`);
  const { objects = [] } = readNarinfo({ file: "x.narinfo", text });
  const [problem] = signatureProblems(objects, [key.trusted]);
  expect(problem?.message).toMatch(/has a signature of cache\.example\.com-1 that does not match it/);
});

test("a signature of the public cache verifies with Nix's own fingerprint", () => {
  const text = `StorePath: /nix/store/w9yy7v61ipb5rx6i35zq1mvc2iqfmps1-hello-2.10
NarHash: sha256:1mi14cqk363wv368ffiiy01knardmnlyphi6h9xv6dkjz44hk30i
NarSize: 205968
References: 9df65igwjmf2wbw0gbrrgair6piqjgmi-glibc-2.31 w9yy7v61ipb5rx6i35zq1mvc2iqfmps1-hello-2.10
Sig: cache.nixos.org-1:uP5KU8MCmyRnKGlN5oEv6xWJBI5EO/Pf5aFztZuLSz8BpCcZ1fdBnJkVXhBAlxkdm/CemsgQskhwvyd2yghTAg==
`;
  const { objects = [] } = readNarinfo({ file: "hello.narinfo", text });
  const publicCache = "cache.nixos.org-1:6NCHdD59X431o0gWypbMrAURkbJ16ZPMQFGspcDShjY=";
  expect(objects).toHaveLength(1);
  expect(signatureProblems(objects, [publicCache])).toEqual([]);
});

test("a hash is the same in all its notations", () => {
  const nix32 = "sha256:0mdqa9w1p6cmli6976v4wi0sw9r4p5prkj7lzfd1877wk11c9c73";
  expect(narHashOf("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")).toBe(nix32);
  expect(narHashOf("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")).toBe(nix32);
  expect(narHashOf(nix32)).toBe(nix32);
  expect(narHashOf("sha512-47DEQpj8HBSa")).toBeUndefined();
});
