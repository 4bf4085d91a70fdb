import { posix } from "node:path";
import { url as urlPattern } from "../../shared/fields.ts";
import type { WrittenConfig } from "../documents/config.ts";
import { isInOwnFolder } from "../documents/site-paths.ts";
import { isOwnMachine } from "../documents/sites.ts";
import type { ConfigRule } from "./config-rule.ts";
import { display } from "./display.ts";

const urlPlaceholders = ["base_url", "version", "file", "name", "package_type", "id", "checksum"] as const;

/** The schema's pattern accepts some URLs that a parser rejects, such as a port above 65535. */
export const baseUrl: ConfigRule = ({ base_url: url }, report) => {
  if (url === undefined || URL.canParse(url)) return;
  const message = `base_url is ${display(url)}, expected an http or https URL`;
  report("config-url", ["base_url"], message, "Correct its host or port.");
};

export const artifactUrl: ConfigRule = (config, report) => {
  const template = config.artifact_url;
  if (template === undefined) return;
  const known: readonly string[] = urlPlaceholders;
  for (const [, key = ""] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (known.includes(key)) continue;
    const hint = `Known: ${known.map((name) => `{${name}}`).join(" ")}.`;
    report("config-url", ["artifact_url"], `the placeholder {${key}} is not known`, hint);
  }
  const sample = template.replace(/^\{base_url\}/, "http://127.0.0.1").replace(/\{[^{}]*\}/g, "x");
  if (!/[{}]/.test(sample) && urlPattern.safeParse(sample).success && URL.canParse(sample)) return;
  const message = `artifact_url is ${display(template)}, expected an http or https URL without credentials`;
  report("config-url", ["artifact_url"], message, "Start it with https:// or {base_url}.");
};

/** `upload` checks again with the actual values of placeholders. */
export const artifactFolder: ConfigRule = (
  { artifact_url: template = "", base_url: base = "", sites = {} },
  report,
) => {
  const bases = ["{base_url}", base, ...Object.values(sites).map((site) => site.base_url ?? base)];
  const below = bases.map((each) => `${each.replace(/\/+$/, "")}/`).find((each) => template.startsWith(each));
  const path = below === undefined ? "" : template.slice(below.length);
  if (!isInOwnFolder(path)) return;
  const folder = path.slice(0, path.indexOf("/"));
  const message = `artifact_url puts artifacts below ${folder}/, among the documents of the site`;
  const hint = "Give them a folder of their own: begin it with {base_url}/files/.";
  report("config-url", ["artifact_url"], message, hint);
};

/** The path becomes part of patterns in four languages, so it must not contain special characters of any. */
export const hostedPath: ConfigRule = ({ base_url: url, hosts = [] }, report) => {
  if (url === undefined || hosts.length === 0 || !URL.canParse(url)) return;
  const { pathname } = new URL(url);
  if (/^[A-Za-z0-9._~/-]*$/.test(pathname) && !pathname.includes("//")) return;
  const message = `the path of base_url is ${display(pathname)}, expected letters, digits and . _ ~ - for the ${hosts.join(", ")} of hosts`;
  const hint =
    "Serve the site below another path, or write that host's configuration by hand and leave hosts out.";
  report("config-url", ["base_url"], message, hint);
};

/** Clients of an OCI registry send every request to `https://HOST/v2/`. */
export const registryAtRoot: ConfigRule = (config, report) => {
  if (!config.feeds?.helm?.oci) return;
  for (const { path, url } of addressesOf(config)) {
    if (new URL(url).pathname === "/") continue;
    const message = `${path.join(".")} is ${display(url)}, expected a URL without a path, because feeds.helm.oci is on`;
    const hint =
      "Clients look for an OCI registry at the root of a host. Give the site a host of its own, or remove oci.";
    report("config-url", path, message, hint);
  }
};

/** Clients load keys of package feeds from the site, so another address must not be able to replace them on the way. */
export const feedsByHttps: ConfigRule = (config, report) => {
  if (Object.keys(config.feeds ?? {}).length === 0) return;
  for (const { path, url, settles } of addressesOf(config)) {
    const { protocol, hostname } = new URL(url);
    if (protocol === "https:" || !settles || isOwnMachine(url) || exampleHost.test(hostname)) continue;
    const message = `${path.join(".")} is ${display(url)}, and machines that install from its package feeds would load their keys without encryption`;
    const hint =
      "Serve the site with TLS, and write https:// here: on the way, anyone can replace keys and packages that come over http.";
    report("config-url", path, message, hint, "value", "warning");
  }
};

/** Names that are reserved for documentation and tests (RFC 2606). */
const exampleHost = /(?:^|\.)(?:example(?:\.(?:com|net|org))?|test|invalid)$/;

/** Valid addresses of the catalog and of its sites. */
function addressesOf({ base_url, sites = {} }: WrittenConfig) {
  const own = Object.entries(sites).map(([name, site]) => ({ ...site, path: ["sites", name, "base_url"] }));
  return [{ path: ["base_url"], base_url, settles: true }, ...own].flatMap(
    ({ path, base_url: url = "", settles = true }) => (URL.canParse(url) ? [{ path, url, settles }] : []),
  );
}

/** Content of one site must not become public at another. */
export const sitePlaces: ConfigRule = (config, report) => {
  const places = Object.entries(config.sites ?? {}).map(([name, { url, endpoint = "" }]) => {
    const whole = url.startsWith("dir:")
      ? posix.resolve("/", url.slice("dir:".length))
      : `${endpoint} ${url}`;
    return { name, url, place: `${whole.replace(/\/+$/, "")}/` };
  });
  for (const [index, { name, url, place }] of places.entries()) {
    const other = places
      .slice(0, index)
      .find((before) => place.startsWith(before.place) || before.place.startsWith(place));
    if (!other) continue;
    const message = `the site ${name} (${url}) and the site ${other.name} (${other.url}) are in one place`;
    report("config-url", ["sites", name, "url"], message, "Give each a folder, or a prefix, of its own.");
  }
};
