import type { Reader } from "../../inspect/inspection.ts";
import { inspectMachO } from "../../inspect/packages/macho/file.ts";
import { inspectMsi } from "../../inspect/packages/msi/msi.ts";
import { inspectPe } from "../../inspect/packages/pe/pe.ts";
import { inspectPkg } from "../../inspect/packages/pkg/pkg.ts";
import type { Verdict } from "../../inspect/verdict.ts";
import { artifactsOf, verdictOf } from "../support/artifacts.ts";

/** Readers of formats that are signed with certificates, by the type that the fixtures name. */
const readers = { msi: inspectMsi, pe: inspectPe, pkg: inspectPkg, macho: inspectMachO } as const;

interface Signer {
  signer: string | null;
  fingerprint?: string;
  digest?: string;
  fingerprint_per_arch?: Record<string, string>;
}

export interface Case {
  file: string;
  type: keyof typeof readers;
  verdict: Verdict;
  read: Reader;
  key_id?: string | null;
  signature?: Signer | null;
  file_signatures?: readonly { name: string; signature: Signer | null; verify_rc?: number }[];
  fingerprint_per_arch?: Record<string, { cdhash: string; identifier: string }>;
  cryptolib_post?: { expected_hash: string | Record<string, string> };
}

export const cases: readonly Case[] = artifactsOf(...Object.keys(readers)).map((artifact) => {
  const { type, ...rest } = artifact as unknown as Case;
  return { ...rest, type, read: readers[type], verdict: verdictOf(artifact) as Verdict };
});

export const titled = (list: readonly Case[]) => list.map((artifact) => [artifact.file, artifact] as const);

export const goodCases = cases.filter(({ verdict }) => verdict === "ok");
