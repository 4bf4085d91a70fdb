import { inspectSignatureFile } from "../../inspect/detached.ts";
import type { Reader } from "../../inspect/inspection.ts";
import { inspectDeb } from "../../inspect/packages/deb/deb.ts";
import { inspectChart, inspectProvenance } from "../../inspect/packages/helm/helm.ts";
import { inspectRpm } from "../../inspect/packages/rpm/rpm.ts";
import { type Artifact, artifactsOf, verdictOf } from "../support/artifacts.ts";

/** The readers of formats that are signed with OpenPGP, by the type that the fixtures name. */
const readers: Record<string, Reader> = {
  rpm: inspectRpm,
  deb: inspectDeb,
  "helm-prov": inspectProvenance,
  openpgp: inspectSignatureFile,
};

export interface Case extends Artifact {
  read: Reader;
}

const charts = artifactsOf("helm-prov").map((artifact) => ({
  ...artifact,
  file: artifact.file.replace(/\.prov$/, ""),
  type: "helm",
  read: inspectChart,
}));

/** All fixtures of these formats; a chart is tested through its provenance file. */
export const cases: Case[] = artifactsOf(...Object.keys(readers))
  .map((artifact) => ({ ...artifact, read: readers[artifact.type] as Reader }))
  .concat(charts);

export const goodCases = cases.filter((artifact) => verdictOf(artifact) === "ok");
