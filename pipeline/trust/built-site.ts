import { join } from "node:path";
import { failure } from "../../shared/errors.ts";
import { relativePath } from "../documents/relative-path.ts";
import { type BuildDocument, buildSchema } from "../documents/site.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { beginsWith, eventsAfter, ledgerMark } from "../ledger/ledger-mark.ts";
import { exists, readIfPresent } from "../system/files.ts";
import { rootFolder } from "../system/root-folder.ts";
import { refuseHostilePaths } from "./parsed-state.ts";

/** build.json, parsed and as bytes. */
export interface Build {
  document: BuildDocument;
  bytes: Uint8Array;
}

/** @throws RelcatError folder-missing, folder-not-ours */
export function readBuild(out: string): Build {
  const bytes = readIfPresent(rootFolder(out)(relativePath("build.json")));
  if (!bytes) throw missing(out);
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw notABuild(out, error);
  }
  const parsed = buildSchema.safeParse(document);
  if (parsed.success) return { document: parsed.data, bytes };
  refuseHostilePaths(parsed.error, join(out, "build.json"), rebuild);
  throw notABuild(out, parsed.error);
}

const rebuild = "Build it again: relcat build --released";

const notABuild = (out: string, cause: unknown) =>
  failure("folder-not-ours", `${out}/build.json is not a build of relcat's`, rebuild, undefined, cause);

/** Checked before locking, because locking would create the folder. @throws RelcatError folder-missing */
export function requireBuild(out: string): void {
  if (!exists(join(out, "build.json"))) throw missing(out);
}

const missing = (out: string) =>
  failure(
    "folder-missing",
    `${out} does not contain a built site`,
    "Build one first: relcat build --released",
  );

/** Refuses a build made with an older or different ledger. @throws RelcatError build-stale */
export function refuseStaleBuild({ ledger: mark }: BuildDocument, ledger: Ledger): void {
  if (mark?.sha256 === ledgerMark(ledger).sha256) return;
  const behind = mark && beginsWith(ledger, mark) ? eventsAfter(ledger, mark) : undefined;
  const what =
    mark === undefined
      ? "does not say with which ledger it was built"
      : behind === undefined
        ? "was made with a ledger that the ledger here does not begin with"
        : `was made before the last ${behind === 1 ? "line" : `${behind} lines`} of the ledger`;
  const hint = "Build it again with the current ledger: relcat build --released, then relcat sign";
  throw failure("build-stale", `the build ${what}`, hint);
}
