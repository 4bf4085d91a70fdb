import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { afterFile } from "./after-file.ts";
import { freePort } from "./port.ts";
import { temporaryFolder } from "./run.ts";

/** Two ways to a web server that take a second for each half kilobyte, so that much can happen during a download. */
export interface SlowLines {
  direct: string;
  /** Keeps what clients read first for two seconds, and everything else for a minute, whatever the server says. */
  cached: string;
}

/** @param origin of the server */
export async function slowLines(origin: string): Promise<SlowLines> {
  const [home, direct, cached] = [temporaryFolder(), await freePort(), await freePort()];
  mkdirSync(join(home, "cache"));
  const path = join(home, "nginx.conf");
  writeFileSync(
    path,
    `user root;
pid ${home}/nginx.pid;
error_log ${home}/error.log warn;
events {}
http {
  access_log off;
  proxy_cache_path ${home}/cache keys_zone=kept:1m;
  proxy_temp_path ${home}/temporary;
  limit_rate 512;
  server {
    listen 127.0.0.1:${direct};
    location / { proxy_pass ${origin}; }
  }
  server {
    listen 127.0.0.1:${cached};
    proxy_cache kept;
    proxy_ignore_headers Cache-Control Expires Vary;
    proxy_cache_lock on;
    location / { proxy_pass ${origin}; proxy_cache_valid any 60s; }
    location ~ (InRelease|Release)$ { proxy_pass ${origin}; proxy_cache_valid any 2s; }
  }
}
`,
  );
  await execa("nginx", ["-p", home, "-c", path]);
  afterFile(() => process.kill(Number(readFileSync(join(home, "nginx.pid"), "utf8")), "SIGQUIT"));
  return { direct: `http://127.0.0.1:${direct}`, cached: `http://127.0.0.1:${cached}` };
}
