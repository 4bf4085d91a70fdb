import type { Problem } from "../../../shared/errors.ts";
import type { Store, Vendor } from "../../documents/attestation.ts";
import { problem } from "./evidence.ts";
import type { Fields } from "./fields.ts";
import { baseOf, besides, hashPart, isStorePath } from "./formats/store-path.ts";
import type { Job } from "./join.ts";
import type { JobFile } from "./join-files.ts";

/** Origin of an image: store object, recipe and sources, as far as known. */
export interface Provenance {
  store?: Store;
  vendor?: Vendor;
}

/** @param fields stated values: a sidecar, --set or a finished manifest */
export function provenanceOf(
  file: JobFile,
  fields: Fields,
  job: Job,
  revision: string | undefined,
): { provenance: Provenance; problems: Problem[] } {
  const { path, problems } = storeOf(file, fields, job);
  const size = path === undefined ? undefined : job.objects.get(baseOf(path))?.narSize;
  const store: Store = { ...(path !== undefined && { path }), ...(size !== undefined && { size }) };
  const image = path !== undefined && isStorePath(path) ? recipeOf(path, job) : undefined;
  const vendor: Vendor = { ...(revision !== undefined && { rev: revision }), ...(image && { image }) };
  return { provenance: { ...unlessEmpty("store", store), ...unlessEmpty("vendor", vendor) }, problems };
}

function recipeOf(path: string, job: Job): NonNullable<Vendor["image"]> {
  const drv = job.drvs.get(baseOf(path));
  return { ...(drv !== undefined && { drv: besides(drv, path) }), derivation: hashPart(path) };
}

const unlessEmpty = (key: string, value: object) => (Object.keys(value).length > 0 ? { [key]: value } : {});

/** Store path of a file; for a file copied out of the store, the job's only output. */
function storeOf(file: JobFile, fields: Fields, { outputs, objects }: Job) {
  const paths = [...objects.values()].map(({ path }) => path).filter((path) => !path.endsWith(".drv"));
  const named = file.store ?? fields.store?.path;
  if (named !== undefined) {
    const same = (path: string) => baseOf(path) === baseOf(named);
    return { path: outputs.find(same) ?? paths.find(same) ?? named, problems: [] };
  }
  const candidates = outputs.length > 0 ? outputs : paths;
  if (candidates.length < 2) return { path: candidates[0], problems: [] };
  return { path: undefined, problems: [ambiguous(file, candidates)] };
}

function ambiguous({ name, at }: JobFile, candidates: readonly string[]): Problem {
  const shown = `${candidates.slice(0, 3).join(", ")}${candidates.length > 3 ? ", …" : ""}`;
  const message = `${name} may be of any of ${candidates.length} store paths: ${shown}`;
  const hint = `Give it by its path in the store, ingest each build by itself, or write store: { path: … } into ${name}.relcat.yaml.`;
  return problem("store-ambiguous", at, message, hint);
}
