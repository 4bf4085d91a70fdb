import type { OutputFile } from "../documents/published.ts";
import type { BuildDocument } from "../documents/site.ts";
import type { LedgerMark } from "../documents/site-state.ts";
import type { MadeFile } from "../journal/file-stats.ts";
import { joinedFile } from "./output.ts";

interface Head {
  base_url: string;
  /** Versions that are not permanent, ascending. */
  provisional: string[];
  /** Commit whose files were built, if they are not those of the folder. */
  at: string | undefined;
  ledger: LedgerMark;
}

/** `build.json`, written file by file. */
export function buildDocument({ at, ledger, ...rest }: Head, files: readonly MadeFile[]): OutputFile {
  const head: Omit<BuildDocument, "files"> = {
    schema_version: 1,
    ...rest,
    ...(at !== undefined && { at }),
    ledger,
  };
  return joinedFile("build.json", () =>
    texts(
      head,
      files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    ),
  );
}

function* texts(head: Omit<BuildDocument, "files">, files: readonly MadeFile[]): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"files":{`;
  let comma = "";
  for (const { path, sha256, size } of files) {
    yield `${comma}${JSON.stringify(path)}:${JSON.stringify({ sha256, size })}`;
    comma = ",";
  }
  yield "}}\n";
}
