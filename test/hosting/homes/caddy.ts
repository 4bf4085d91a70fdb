import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { freePort } from "../../support/port.ts";
import { temporaryFolder } from "../../support/run.ts";
import type { Home } from "../run-contract.ts";
import { preparedAnswers } from "./prepared.ts";

/** Debian's Caddy with the lines that its file says a person adds. */
export const caddy: Home = {
  name: "Caddy",
  exceptions: preparedAnswers,
  async start({ folder }) {
    const [home, port] = [temporaryFolder(), await freePort()];
    const path = join(home, "Caddyfile");
    const pidFile = join(home, "caddy.pid");
    writeFileSync(path, configuration(folder, home, port));
    const env = { XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
    const args = ["start", "--config", path, "--adapter", "caddyfile", "--pidfile", pidFile];
    await execa("caddy", args, { env, stdio: "ignore" });
    const pid = Number(readFileSync(pidFile, "utf8"));
    return { origin: `http://127.0.0.1:${port}`, stop: () => void process.kill(pid, "SIGTERM") };
  },
};

const configuration = (site: string, home: string, port: number) => `
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
	import ${site}/hosting/caddy/Caddyfile
}
`;
