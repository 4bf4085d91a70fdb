import type { OutputFile } from "../documents/published.ts";
import type { BuildCopies, BuildDocument } from "../documents/site.ts";
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
  copies: BuildCopies;
}

/** `build.json`, written file by file. */
export function buildDocument({ at, ledger, copies, ...rest }: Head, files: readonly MadeFile[]): OutputFile {
  const head: BuildHead = {
    schema_version: 1,
    ...rest,
    ...(at !== undefined && { at }),
    ledger,
  };
  return joinedFile("build.json", () =>
    texts(
      head,
      files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      copies,
    ),
  );
}

type BuildHead = Omit<BuildDocument, "files" | "copies">;

function* texts(head: BuildHead, files: readonly MadeFile[], copies: BuildCopies): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"files":{`;
  let comma = "";
  for (const { path, sha256, size } of files) {
    yield `${comma}${JSON.stringify(path)}:${JSON.stringify({ sha256, size })}`;
    comma = ",";
  }
  yield Object.keys(copies).length > 0 ? `},"copies":${JSON.stringify(copies)}}\n` : "}}\n";
}
