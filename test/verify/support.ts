import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { canonicalize } from "@tufjs/canonical-json";
import { Metadata, MetadataKind } from "@tufjs/models";
import { cacheControl, mediaType } from "../../pipeline/documents/file-headers.ts";
import { keyId, publicBytes } from "../../pipeline/trust/keys.ts";
import { afterFile } from "../support/after-file.ts";
import { temporaryFolder } from "../support/run.ts";
import type { SignedProject } from "../trust/support.ts";

export const hash = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
export const day = 24 * 3_600_000;
export const daysFromNow = (count: number) => ["--now", new Date(Date.now() + count * day).toISOString()];

/** A copy of a site to do harm to. */
export function copyOf(folder: string): string {
  const copy = join(temporaryFolder(), "site");
  cpSync(folder, copy, { recursive: true });
  return copy;
}

/** Runs `relcat verify` as people do. */
export async function verify(project: SignedProject, args: readonly string[], state = temporaryFolder()) {
  const root =
    args.includes("--root") || args.includes("--trust-first-use") ? [] : ["--root", rootOf(project)];
  const { exitCode, stdout, stderr } = await project.relcat([
    "verify",
    ...args,
    ...root,
    "--trust-dir",
    state,
  ]);
  return { exitCode, text: stdout + stderr, stdout };
}

export const rootOf = ({ folder }: SignedProject) => join(folder, "releases/trust/1.root.json");

type Answering = (path: string, request: IncomingMessage, response: ServerResponse) => boolean;

/** A plain file host. @param answers takes the requests that it wants to itself */
export async function host(folder: () => string, answers: Answering = () => false): Promise<string> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname).slice(1);
    if (answers(path, request, response)) return;
    const file = join(folder(), path);
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return void response.writeHead(404).end();
    const headers = { "content-type": mediaType(path), "cache-control": cacheControl.public };
    response.writeHead(200, headers).end(readFileSync(file));
  });
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface TestKey {
  id: string;
  private: KeyObject;
  public: string;
}

export const keyOf = (project: SignedProject, name: string): TestKey =>
  keyOfPem(readFileSync(join(project.keys, `${name}.pem`), "utf8"));

export function keyOfPem(pem: string): TestKey {
  const key = createPrivateKey(pem);
  const bytes = publicBytes(key);
  return { id: keyId(bytes), private: key, public: Buffer.from(bytes).toString("hex") };
}

// biome-ignore lint/suspicious/noExplicitAny: attacks reach into documents of every shape
export type Json = any;

/** Modifies and signs a site's metadata in a folder. */
export class Forger {
  readonly folder: string;
  readonly online: TestKey;
  readonly targets: TestKey;

  constructor(folder: string, project: SignedProject) {
    this.folder = folder;
    this.online = keyOf(project, "online");
    this.targets = keyOf(project, "targets");
    // Only the signer's own machine has it.
    rmSync(join(folder, "metadata/signed.json"), { force: true });
  }

  /** The signed part of the newest version of a role. */
  read(role: string): Json {
    return JSON.parse(readFileSync(this.file(role, this.newest(role)), "utf8")).signed;
  }

  newest(role: string): number {
    const versions = readdirSync(join(this.folder, "metadata")).flatMap((name) =>
      name.endsWith(`.${role}.json`) ? Number(name.slice(0, name.indexOf("."))) : [],
    );
    return Math.max(...versions);
  }

  file(role: string, version: number): string {
    return join(this.folder, "metadata", role === "timestamp" ? "timestamp.json" : `${version}.${role}.json`);
  }

  /** Signs and stores a role under its version, or another. */
  write(
    role: string,
    signed: Json,
    keys: readonly TestKey[] = [this.keyFor(role)],
    as = signed.version,
  ): Buffer {
    const bytes = Buffer.from(`${JSON.stringify(signedBy(signed, keys))}\n`);
    writeFileSync(this.file(role, as), bytes);
    return bytes;
  }

  private keyFor(role: string): TestKey {
    return role === "targets" ? this.targets : this.online;
  }

  /** Changes a role, and signs the roles above it again. @param meta false statements of the snapshot */
  change(role: string, edit: (signed: Json) => void, meta: object = {}): void {
    const signed = this.read(role);
    signed.version++;
    edit(signed);
    const bytes = this.write(role, signed);
    this.snapshot((snapshot) => {
      snapshot.meta[`${role}.json`] = { ...metaOf(signed.version, bytes), ...meta };
    });
  }

  snapshot(edit: (signed: Json) => void): void {
    const signed = this.read("snapshot");
    signed.version++;
    edit(signed);
    const bytes = this.write("snapshot", signed);
    this.timestamp((timestamp) => {
      timestamp.meta["snapshot.json"] = metaOf(signed.version, bytes);
    });
  }

  timestamp(edit: (signed: Json) => void): void {
    const signed = JSON.parse(readFileSync(this.file("timestamp", 0), "utf8")).signed;
    signed.version++;
    edit(signed);
    this.write("timestamp", signed);
  }

  /** Replaces a target by other bytes, properly signed. */
  retarget(role: string, path: string, edit: (document: Json) => void): void {
    const known = this.read(role).targets[path];
    const slash = path.lastIndexOf("/") + 1;
    const stored = (digest: string) =>
      join(this.folder, "targets", path.slice(0, slash), `${digest}.${path.slice(slash)}`);
    const document = JSON.parse(readFileSync(stored(known.hashes.sha256), "utf8"));
    edit(document);
    const text = JSON.stringify(document);
    writeFileSync(stored(hash(text)), text);
    this.change(role, (signed) => {
      signed.targets[path] = { length: Buffer.byteLength(text), hashes: { sha256: hash(text) } };
    });
  }

  /** Adds a role to the delegations of `targets`, which the targets key signs. */
  delegate(role: object, keys: readonly TestKey[] = []): void {
    this.change("targets", (signed) => {
      signed.delegations.roles.push(role);
      for (const key of keys) signed.delegations.keys[key.id] ??= described(key);
    });
  }
}

export const described = (key: TestKey) => ({
  keytype: "ed25519",
  scheme: "ed25519",
  keyval: { public: key.public },
});

export const metaOf = (version: number, bytes: Uint8Array) => ({
  version,
  length: bytes.length,
  hashes: { sha256: hash(bytes) },
});

/**
 * Signs the document unchanged, through the models of the TUF client if they can parse it: the same bytes as
 * anyone signs.
 */
export function signedBy(signed: Json, keys: readonly TestKey[]): Json {
  const kind = signed._type as MetadataKind;
  if (Object.values(MetadataKind).includes(kind))
    Metadata.fromJSON(kind as never, { signed, signatures: [] } as never);
  const message = Buffer.from(canonicalize(signed));
  return {
    signatures: keys.map((key) => ({ keyid: key.id, sig: sign(null, message, key.private).toString("hex") })),
    signed,
  };
}
