import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Run, row } from "../terminal/rows.ts";

export function addInspect(program: CommandUnknownOpts, run: Run): void {
  const what = "Say what packages and images are, whether their signatures hold, and whose they are.";
  const inspect = row(program, "inspect", what, "relcat inspect out/* --keys release-keys")
    .argument("<file...>", "packages, images, archives, signatures; what belongs together in one folder")
    .option("--keys <folder>", "certificates of those who may sign: OpenPGP and X.509; default: nobody may")
    .option(
      "--self-check <path>",
      "file inside, which has the hash of the product's self-check; * for any name",
    )
    .action((files, options) =>
      run(async (host) => (await import("./inspect.ts")).inspect(files, options, host)),
    );
  inspect.addHelpText("after", "\nExit status: 0 when every verdict is ok, otherwise 1.");
}
