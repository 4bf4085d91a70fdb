import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Run, row } from "../terminal/rows.ts";

export function addInspect(program: CommandUnknownOpts, run: Run): void {
  const what =
    "Show the format of packages and images, whether their signatures are valid, and who signed them.";
  const inspect = row(program, "inspect", what, "relcat inspect out/* --keys release-keys")
    .argument(
      "<file...>",
      "packages, images, archives, signatures; keep a file and its signature in one folder",
    )
    .option(
      "--keys <folder>",
      "folder with certificates of allowed signers, OpenPGP and X.509; default: no signer is allowed",
    )
    .option(
      "--self-check <path>",
      "path of the file inside that contains the self-check hash; * matches any name",
    )
    .action((files, options) =>
      run(async (host) => (await import("./inspect.ts")).inspect(files, options, host)),
    );
  inspect.addHelpText("after", "\nExit status: 0 if every verdict is ok, otherwise 1.");
}
