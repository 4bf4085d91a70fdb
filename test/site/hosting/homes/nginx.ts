import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { freePort } from "../../../support/port.ts";
import { temporaryFolder } from "../../../support/run.ts";
import type { Home } from "../run-contract.ts";
import { preparedAnswers } from "./prepared.ts";

/** Debian's nginx with the lines that the emitted file tells users to add. */
export const nginx: Home = {
  name: "nginx",
  exceptions: preparedAnswers,
  start: ({ folder }) => startNginx(folder, join(folder, "hosting")),
};

/**
 * @param hosting the site's configuration for web servers
 * @param own port; default: a free one
 */
export async function startNginx(site: string, hosting: string, own?: number) {
  const [home, port] = [temporaryFolder(), own ?? (await freePort())];
  const path = join(home, "nginx.conf");
  writeFileSync(path, configuration({ site, hosting, home, port }));
  const { stderr } = await execa("nginx", ["-t", "-p", home, "-c", path]);
  if (/\[(?!notice)\w+\]/.test(stderr)) throw new Error(`nginx -t: ${stderr}`);
  await execa("nginx", ["-p", home, "-c", path]);
  // It listens before this command has ended, but may write its pid file later.
  const pid = () => Number(readFileSync(join(home, "nginx.pid"), "utf8"));
  const origin = `http://127.0.0.1:${port}`;
  const reload = () => execa("nginx", ["-p", home, "-c", path, "-s", "reload"]);
  return { origin, reload, stop: () => void process.kill(pid(), "SIGQUIT") };
}

const configuration = ({
  site,
  hosting,
  home,
  port,
}: {
  site: string;
  hosting: string;
  home: string;
  port: number;
}) => `
load_module /usr/lib/nginx/modules/ngx_http_brotli_static_module.so;
user root;
pid ${home}/nginx.pid;
error_log ${home}/error.log warn;
events {}
http {
  access_log off;
  include ${hosting}/nginx/*.map;
  server {
    listen 127.0.0.1:${port};
    root ${site};
    include ${hosting}/nginx/nginx.conf;
  }
}
`;
