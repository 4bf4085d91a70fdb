import { basename } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { inspectImage } from "../../inspect/images/image.ts";
import type { Keys } from "../../inspect/keys.ts";
import { type FileSource, fileSource } from "../../pipeline/system/file-source.ts";
import {
  type Artifact,
  allowedKeys,
  artifactsOf,
  optionsWith,
  pathOf,
  verdictOf,
} from "../support/artifacts.ts";

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

/** The reported type of the file, and its boot type. */
const types: Readonly<Record<string, readonly [type: string, boot?: string]>> = {
  "acme-1.2.3-amazon.raw.xz": ["raw", "bios"],
  "acme-1.2.3-azure.vhd.xz": ["vhd", "bios"],
  "acme-1.2.3-dynamic.vhd.xz": ["vhd", "bios"],
  "acme-1.2.3-efi.qcow2": ["qcow2", "efi"],
  "acme-1.2.3-esxi.ova": ["ova", "bios"],
  "acme-1.2.3-gce.tar.gz": ["gce", "bios"],
  "acme-1.2.3-hyperv.vhdx.xz": ["vhdx", "bios"],
  "acme-1.2.3-incus-metadata.tar.xz": ["incus"],
  "acme-1.2.3-incus.tar.xz": ["incus", "efi"],
  "acme-1.2.3-proxmox.vma": ["vma", "unknown"],
  "acme-1.2.3-sparse.vmdk": ["vmdk", "bios"],
  "acme-1.2.3-v2.qcow2": ["qcow2", "bios"],
  "acme-1.2.3-vmware.vmdk": ["vmdk", "bios"],
  "acme-1.2.3-xen.xva.gz": ["xva", "bios"],
  "acme-1.2.3-zstd.qcow2": ["qcow2", "efi"],
  "acme-1.2.3.qcow2": ["qcow2", "bios"],
  "acme-1.2.3.vdi.xz": ["vdi", "bios"],
  "bad-backing-file.qcow2": ["qcow2"],
  "bad-gce-name.tar.gz": ["gce"],
  "tampered-esxi.ova": ["ova", "bios"],
};

interface Image extends Artifact {
  sha256: string;
  inner_sha256?: string | null;
}

const images = artifactsOf(
  ...new Set(Object.values(types).map(([type]) => `vm-${type === "vhd" ? "vpc" : type}`)),
) as Image[];
const archives = artifactsOf("tar.xz") as Image[];

async function inspect(
  file: string,
  {
    use = async () => {},
    trusted = keys,
  }: { use?: (source: FileSource) => Promise<void>; trusted?: Keys } = {},
) {
  const source = fileSource(pathOf(file));
  try {
    const inspection = await inspectImage(source, { ...optionsWith(trusted), limit: 2 ** 36 });
    await use(source);
    return inspection;
  } finally {
    source.close();
  }
}

test("the table has every image of the fixtures", () => {
  expect(images.map(({ file }) => basename(file)).sort()).toEqual(Object.keys(types).sort());
});

test.each(images.map((image) => [image.file, image] as const))("%s", async (file, image) => {
  const inspection = await inspect(file, {
    use: async (source) => expect(await source.sha256()).toBe(image.sha256),
  });
  const [type, boot] = types[basename(file)] ?? [];
  expect(inspection).toMatchObject({
    type,
    verdict: verdictOf(image),
    key_id: null,
    signature: null,
    uncovered: [],
  });
  expect(inspection.reason === "").toBe(inspection.verdict === "ok");
  expect(inspection.facts.boot).toBe(boot);
  if (image.inner_sha256) expect(inspection.facts.inner_sha256).toBe(image.inner_sha256);
  const size = image.words.join(" ").match(/virtual size: [^(]*\((\d+) bytes\)/)?.[1];
  if (size && inspection.verdict === "ok") expect(inspection.facts.virtual_size).toBe(Number(size));
});

test.each(archives.map((archive) => [archive.file, archive] as const))("%s", async (file, archive) => {
  const { type, verdict, facts } = await inspect(file);
  expect(verdict).toBe(verdictOf(archive));
  if (verdict !== "ok") return;
  expect([type, facts]).toEqual([
    "tar",
    {
      compression: "xz",
      unpacked_size: 10240,
      inner_sha256: "8152e47c74258dd85f0130633303a3593bc7346be4480ab5f514b9821b95e104",
      entries: 4,
      files_size: 37,
      top_folder: "acme-client-1.2.3",
    },
  ]);
});

test("the signed OVA has a signer, which is untrusted without the CA", async () => {
  const file = "vm/acme-1.2.3-esxi.ova";
  expect((await inspect(file)).facts.signed_by).toBe("CN=Example OVA Signing,O=Example Release AG,C=CH");
  expect(await inspect(file, { trusted: { openpgp: [], x509: [] } })).toMatchObject({
    verdict: "untrusted-key",
    reason: "the certificate of Example OVA Signing is neither allowed nor issued by an allowed CA",
  });
});
