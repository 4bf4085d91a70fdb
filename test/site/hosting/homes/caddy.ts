import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { freePort } from "../../../support/port.ts";
import { temporaryFolder } from "../../../support/run.ts";
import type { Home } from "../run-contract.ts";
import { preparedAnswers } from "./prepared.ts";

/** Debian's Caddy with the lines that the emitted file tells users to add. */
export const caddy: Home = {
  name: "Caddy",
  exceptions: preparedAnswers,
  start: ({ folder }) => startCaddy(folder, join(folder, "hosting")),
};

/** @param hosting folder of the emitted configuration */
export async function startCaddy(site: string, hosting: string) {
  const [home, port] = [temporaryFolder(), await freePort()];
  const path = join(home, "Caddyfile");
  const said = join(home, "said.txt");
  writeFileSync(path, configuration(site, hosting, home, port));
  const env = { XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  // The server inherits this output, so it goes into a file. The pid file may appear after the command has ended.
  const start = 'caddy start --config "$0" --adapter caddyfile >"$1" 2>&1';
  await execa("sh", ["-c", start, path, said], { env, stdio: "ignore" });
  const pid = Number(readFileSync(said, "utf8").match(/\(pid=(\d+)\)/)?.[1]);
  return { origin: `http://127.0.0.1:${port}`, stop: () => void process.kill(pid, "SIGTERM") };
}

const configuration = (site: string, hosting: string, home: string, port: number) => `
{
	admin off
	auto_https off
	default_bind 127.0.0.1
	log default {
		output file ${home}/caddy.log
	}
}
http://127.0.0.1:${port} {
	root * ${site}
	import ${hosting}/caddy/Caddyfile
}
`;
