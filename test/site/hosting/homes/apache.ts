import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  lutimesSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { freePort } from "../../../support/port.ts";
import { temporaryFolder } from "../../../support/run.ts";
import { send } from "../exchange.ts";
import type { Home } from "../run-contract.ts";
import { preparedAnswers } from "./prepared.ts";

/** Debian's Apache with its default modules, those that the emitted file names, and the lines that it tells users to add. */
export const apache: Home = {
  name: "Apache",
  exceptions: preparedAnswers,
  start: ({ folder }) => startApache(folder, join(folder, "hosting")),
};

const modules = [
  "mpm_event",
  "authz_core",
  "alias",
  "autoindex",
  "deflate",
  "dir",
  "filter",
  "mime",
  "negotiation",
];
const needed = ["headers", "rewrite"];

/** @param hosting folder of the emitted configuration */
export async function startApache(site: string, hosting: string) {
  const [home, port] = [temporaryFolder(), await freePort()];
  const path = join(home, "apache.conf");
  // Its processes run as another user.
  for (const folder of [home, site, dirname(site)]) chmodSync(folder, 0o755);
  older(site);
  writeFileSync(path, configuration(site, hosting, home, port));
  const { stderr } = await execa("apache2", ["-t", "-f", path]);
  if (stderr.trim() !== "Syntax OK") throw new Error(`apache2 -t: ${stderr}`);
  const server = spawn("apache2", ["-D", "FOREGROUND", "-f", path], { stdio: "ignore" });
  const origin = `http://127.0.0.1:${port}`;
  while (!(await send(origin, "HEAD", {}).catch(() => undefined))) {
    const log = join(home, "error.log");
    if (server.exitCode !== null) throw new Error(existsSync(log) ? readFileSync(log, "utf8") : "apache2");
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { origin, stop: () => void server.kill("SIGTERM") };
}

/** Apache's validators are weak for a second after a file's time, which may be three seconds in the future. */
function older(site: string): void {
  for (const { name, parentPath } of readdirSync(site, { recursive: true, withFileTypes: true })) {
    const file = join(parentPath, name);
    const time = lstatSync(file).mtimeMs / 1000 - 60;
    lutimesSync(file, time, time);
  }
}

const configuration = (site: string, hosting: string, home: string, port: number) => `
ServerRoot ${home}
PidFile ${home}/apache.pid
ErrorLog ${home}/error.log
Listen 127.0.0.1:${port}
ServerName downloads.example.com
User www-data
Group www-data
${[...modules, ...needed].map((name) => `IncludeOptional /etc/apache2/mods-available/${name}.load\nIncludeOptional /etc/apache2/mods-available/${name}.conf`).join("\n")}
# What other parts of a server's configuration may say about files.
AddEncoding x-gzip .gz
<FilesMatch "[.](?:txt|svg)$">
  SetHandler type-map
</FilesMatch>
<Directory />
  Require all denied
</Directory>
<VirtualHost 127.0.0.1:${port}>
  Define RELCAT_SITE ${site}
  Define CATALOG_HOSTING ${hosting}
  Include ${hosting}/apache/apache.conf
</VirtualHost>
`;
