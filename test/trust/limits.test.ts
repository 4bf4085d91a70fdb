import { generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import type { BuildDocument } from "../../pipeline/documents/site.ts";
import { keyId, publicBytes, type Signer } from "../../pipeline/trust/keys.ts";
import { nothingLive } from "../../pipeline/trust/live-metadata.ts";
import { beginTrust } from "../../pipeline/trust/renewal.ts";
import { decideSigning } from "../../pipeline/trust/sign.ts";

function newSigner(): Signer {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const bytes = publicBytes(publicKey);
  return {
    id: keyId(bytes),
    publicKey: bytes,
    place: "memory",
    sign: async (message) => sign(null, message, privateKey),
  };
}

/** A build of this many empty releases in one month. */
async function signMonth(releases: number) {
  const [root, targets, online] = [newSigner(), newSigner(), newSigner()];
  const now = Date.parse("2026-10-01T00:00:00Z");
  const begun = await beginTrust("simple", { roots: [root], targets, online: online.publicKey }, ["26"], now);
  const files: BuildDocument["files"] = { "api/v1/package/index.json": { sha256: "", size: 2 } };
  for (let number = 1; number <= releases; number++) {
    const version = `26.09.${String(number).padStart(3, "0")}`;
    files[`api/v1/release/${version}/index.json`] = { sha256: "", size: 2 };
  }
  return decideSigning({
    build: { schema_version: 1, base_url: "https://example.com", provisional: [], files },
    buildBytes: new Uint8Array(),
    read: () => Buffer.from('{"packages":[],"retracted":[],"artifacts":{}}'),
    feeds: [],
    trust: { ...begun, roots: [begun.root] },
    live: nothingLive,
    online,
    principal: "releases@example.com",
    builder: undefined,
    vendor: "vendor",
    now,
    validDays: 30,
  });
}

test("sign signs a month with every number that a version can have, and clients read it", async () => {
  const files = await signMonth(999);
  const month = files.find(({ path }) => path === "metadata/1.releases-26.09.json");
  expect(Object.keys(JSON.parse(Buffer.from(month?.bytes ?? "").toString()).signed.targets)).toHaveLength(
    1998,
  );
  // Clients read 5 MB of a role at most.
  expect(month?.bytes.length).toBeLessThan(1_000_000);
});
