import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { asPort } from "../terminal/arguments.ts";
import { type Run, row } from "../terminal/rows.ts";

export function addServing(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Serve:");
  row(program, "serve", "Serve a built site with filters, orderings and redirects.", "relcat serve --watch")
    .option("--dir <folder>", "folder of the built site; default: dist of the project")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 for any free port", asPort, 8080)
    .option("--trusted-proxies <address...>", "addresses or networks whose X-Forwarded-For is trusted")
    .option("--reuse-port", "let several processes listen on one port")
    .option("--build", "build the site first")
    .option("--watch", "build the site first, and again after each change")
    .option("--releases <folder>", "accept manifests by POST from clients that send $RELCAT_PUBLISH_TOKEN")
    .option("--database <place>", "controller database: its API keys with packages:write can post too")
    .option(
      "--after-post <program...>",
      "run this program after posts; $RELCAT_MANIFESTS has one path per line",
    )
    .action((options) => run(async (host) => (await import("./serve.ts")).serve(options, host)));
}
