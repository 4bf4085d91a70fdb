import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  build,
  type Catalog,
  type CutOptions,
  cut,
  loadCatalog,
  type Problem,
  RelcatError,
  type RetractOptions,
  reinstate,
  retract,
  type Selection,
  type Surroundings,
  uncut,
} from "../../pipeline/index.ts";
import { temporaryFolder } from "./run.ts";

/** File content by path below releases/; undefined removes a file. Objects become indented JSON. */
export type Files = Record<string, string | Uint8Array | object | undefined>;

/** A releases folder, with operations of the library. */
export interface Releases {
  folder: string;
  write(files: Files): void;
  read(path: string): string;
  load(selection?: Selection): Promise<Catalog>;
  /** Every problem `check` would show, as text. */
  problems(selection?: Selection): Promise<string[]>;
  cut(options?: CutOptions, at?: string): ReturnType<typeof cut>;
  retract(options: RetractOptions, at?: string): ReturnType<typeof retract>;
  reinstate(ids: readonly number[], at?: string): ReturnType<typeof reinstate>;
  uncut(version: string, base?: string): ReturnType<typeof uncut>;
  /** Builds into a folder next to releases/. */
  build(selection?: Selection): ReturnType<typeof build>;
  out: string;
}

/** The clock of every test; `at` gives another time. */
const clock = Date.parse("2026-10-01T12:00:00.000Z");

export const surroundings = (at?: string): Surroundings => ({
  clock,
  pid: process.pid,
  onWait: () => {},
  ...(at !== undefined && { explicitTime: { name: "--now", value: at } }),
});

export function releases(...layers: Files[]): Releases {
  const root = temporaryFolder();
  const folder = join(root, "releases");
  const out = join(root, "dist");
  mkdirSync(folder);
  const self: Releases = {
    folder,
    out,
    write: (files) => {
      for (const [path, content] of Object.entries(files)) writeOne(join(folder, path), content);
    },
    read: (path) => readFileSync(join(folder, path), "utf8"),
    load: (selection) => loadCatalog(folder, selection),
    problems: async (selection) =>
      (await loadCatalog(folder, selection)).problems.map((each) => show(each, folder)),
    cut: (options = {}, at) => cut(folder, options, surroundings(at)),
    retract: (options, at) => retract(folder, options, surroundings(at)),
    reinstate: (ids, at) => reinstate(folder, ids, surroundings(at)),
    uncut: (version, base = "none") => uncut(folder, version, base, surroundings()),
    build: (selection = {}) => build(folder, out, selection, surroundings()),
  };
  for (const files of layers) self.write(files);
  return self;
}

function writeOne(path: string, content: Files[string]): void {
  if (content === undefined) {
    rmSync(path, { recursive: true, force: true });
    return;
  }
  mkdirSync(dirname(path), { recursive: true });
  const bytes = typeof content === "string" || content instanceof Uint8Array ? content : json(content);
  writeFileSync(path, bytes);
}

export const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** `place severity[code] message`, and the hint on a line of its own; paths start below the folder. */
function show({ at, severity, code, message, hint }: Problem, folder: string): string {
  const place = at ? `${at.file}:${at.line}:${at.column} ` : "";
  const text = `${place}${severity}[${code}] ${message}${hint ? `\n  ${hint}` : ""}`;
  return text.replaceAll(new RegExp(`${folder}/(?=\\S)`, "g"), "").replaceAll(folder, "releases");
}

/** Problems of an action that must fail, as text. */
export async function complaints(folder: string, action: () => Promise<unknown>): Promise<string[]> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    return error.problems.map((problem) => show(problem, folder));
  }
  return [];
}

export const hex = (digit: string, length = 64) => digit.repeat(length);

/** A client package with everything that the strict rules require: a deb for newer systems. */
export const client = (changes: object = {}) => ({
  name: "tool_26.08.001_amd64.deb",
  package_type: "deb",
  sha256: hex("1"),
  size: 1000,
  min_os_version: "22.04",
  attestation: attestation(),
  ...changes,
});

export const attestation = (changes: object = {}) => ({
  key_id: hex("a", 40),
  sha256: hex("1"),
  signature: { signer: "Release key", display: "EdDSA, 2026-08-18", fingerprint: "ab12" },
  cryptolib_post: { expected_hash: hex("B") },
  file_signatures: [{ name: "usr/bin/tool", signature: { fingerprint: "cd34" } }],
  ...changes,
});

/** A macOS installer: hashes and fingerprints are per architecture there. */
export const installer = (changes: object = {}) => ({
  name: "tool-26.08.001.pkg",
  package_type: "pkg",
  sha256: hex("2"),
  attestation: {
    key_id: "Developer ID Installer: Example (AB12CD34EF)",
    cryptolib_post: { expected_hash_per_arch: { arm64: hex("C"), x86_64: hex("D") } },
    file_signatures: [{ name: "tool", signature: { fingerprint_per_arch: { arm64: "aa", x86_64: "bb" } } }],
  },
  ...changes,
});

const storeHash = hex("1", 32);

/** A controller image: a build output, its sources, and the self-check alone as attestation. */
export const image = (changes: object = {}) => ({
  name: "controller-26.08.001.qcow2.gz",
  package_type: "qcow",
  sha256: hex("3"),
  size: 2_000_000_000,
  store: { path: `/nix/store/${storeHash}-controller`, size: 5_000_000_000 },
  vendor: { rev: hex("e", 40), image: { drv: "/nix/store/controller.drv", derivation: storeHash } },
  attestation: { cryptolib_post: { expected_hash: hex("E") } },
  ...changes,
});

/** A Kubernetes chart, which needs no further fields. */
export const chart = (changes: object = {}) => ({
  name: "tool-chart-26.08.001.tgz",
  package_type: "helm",
  sha256: hex("4"),
  ...changes,
});

export const manifest = (artifacts: readonly object[], release = "26.08.001") => ({ release, artifacts });

export const releaseDocument = (changes: object = {}) => ({
  version: "26.08.001",
  date: "2026-08-19",
  ...changes,
});

/** One release with an artifact of each kind, each in a manifest of its own; it passes every check. */
export const validRelease: Files = {
  "26.08.001/release.yaml": releaseDocument(),
  "26.08.001/manifests/client.json": manifest([client()]),
  "26.08.001/manifests/image.json": manifest([image()]),
  "26.08.001/manifests/chart.json": manifest([chart()]),
};

/** A release of minimal packages; needs `require: {}`. */
export function plainRelease(version: string, files: readonly string[], changes: object = {}): Files {
  const artifacts = files.map((name, index) => ({
    name,
    package_type: name.slice(name.lastIndexOf(".") + 1),
    sha256: hex(((index % 9) + 1).toString()),
  }));
  const date = `20${version.slice(0, 2)}-${version.slice(3, 5)}-15`;
  return {
    "catalog.yaml": { require: {} },
    [`${version}/release.yaml`]: { version, date, ...changes },
    [`${version}/manifests/all.json`]: manifest(artifacts, version),
  };
}

/** A ledger line as relcat writes it; its record need not exist. */
export const addLine = (id: number, changes: object = {}) =>
  line({
    event: "add",
    id,
    version: "26.08.001",
    package_type: "rpm",
    name: `${id}.rpm`,
    file: `${id}.rpm`,
    min_os_version: null,
    max_os_version: null,
    checksum: hex("1"),
    content: hex("a"),
    at: "2026-08-19T10:00:00.000000Z",
    ...changes,
  });

export const line = (event: object) => `${JSON.stringify(event)}\n`;
