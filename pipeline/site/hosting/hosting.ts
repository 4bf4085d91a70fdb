import type { Config } from "../../documents/config.ts";
import type { Host } from "../../documents/hosting.ts";
import type { OutputFile } from "../../documents/published.ts";
import { apacheFiles } from "./apache.ts";
import { caddyFiles } from "./caddy.ts";
import { cloudflareFiles } from "./cloudflare.ts";
import { cloudfrontFiles } from "./cloudfront.ts";
import { nginxFiles } from "./nginx.ts";
import { feedRules, type HostSources } from "./sources.ts";

const emitters: Readonly<Record<Host, (sources: HostSources) => OutputFile[]>> = {
  nginx: nginxFiles,
  caddy: caddyFiles,
  apache: apacheFiles,
  cloudflare: cloudflareFiles,
  cloudfront: cloudfrontFiles,
};

/** `hosting/`: configuration for the named hosts, never served. */
export function* hostingFiles(
  sources: Pick<HostSources, "routing" | "tags" | "templates">,
  { hosts, precompress, feeds, security }: Pick<Config, "hosts" | "precompress" | "feeds" | "security">,
): Generator<OutputFile> {
  const hasWellKnown = security !== undefined || feeds.packslip !== undefined;
  const all = { ...sources, encodings: precompress, feeds: feedRules(feeds), hasWellKnown };
  for (const host of [...hosts].sort()) yield* emitters[host](all);
}
