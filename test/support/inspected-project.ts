import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathOf } from "./artifacts.ts";
import { type Project, project } from "./project.ts";
import { repository } from "./run.ts";

const keys = join(repository, "test/fixtures/artifacts/keys");

/** catalog.yaml under which an ed25519 key and a CA may sign packages of version 1.2.3. */
export const signersConfig = (rest: object = {}) => ({
  require: {},
  ingest: [
    { match: "*.deb", package_type: "deb", min_os_version: "22.04" },
    { match: "*.rpm", package_type: "rpm" },
    { match: "*.msi", package_type: "msi" },
  ],
  signers: [{ file: "signers/ed25519.asc" }, { file: "signers/codesign-ca.crt" }],
  version_map: { deb: "1.2.3", rpm: "1.2.3", msi: "1.2.3" },
  ...rest,
});

// biome-ignore lint/suspicious/noExplicitAny: tests change documents of every shape
type Json = any;

export interface InspectedProject extends Project {
  /** `relcat ingest` of out/. */
  ingest(): ReturnType<Project["run"]>;
  /** The only manifest of the release. */
  manifest(): { file: string; value: Json };
  /** Replaces catalog.yaml. */
  configure(rest: object): void;
}

export const version = "26.11.001";

/** A project with one open release, and artifacts of the fixtures in out/. */
export function inspectedProject(files: readonly string[], rest: object = {}): InspectedProject {
  const made = project({
    "releases/catalog.yaml": signersConfig(rest),
    [`releases/${version}/release.yaml`]: { version, date: "2026-11-21" },
  });
  mkdirSync(join(made.folder, "releases/signers"));
  mkdirSync(join(made.folder, "out"));
  for (const name of [
    "ed25519.asc",
    "rsa4096.asc",
    "codesign-ca.crt",
    "installer.crt",
    "application.crt",
    "ima.crt",
  ])
    cpSync(join(keys, name), join(made.folder, "releases/signers", name));
  for (const file of files) cpSync(pathOf(file), join(made.folder, "out", basename(file)));
  return {
    ...made,
    ingest: () => made.run("ingest", "--release", version, "out"),
    manifest() {
      const [name = ""] = made.list(`releases/${version}/manifests`);
      const file = `releases/${version}/manifests/${name}`;
      return { file, value: JSON.parse(readFileSync(join(made.folder, file), "utf8")) };
    },
    configure: (other) =>
      writeFileSync(join(made.folder, "releases/catalog.yaml"), JSON.stringify(signersConfig(other))),
  };
}

/** Printed problems with their hints, without the quoted source lines. */
export const problemsIn = (output: string): string[] =>
  output.split("\n").filter((line) => /(?:error|warning)\[|hint:/.test(line));
