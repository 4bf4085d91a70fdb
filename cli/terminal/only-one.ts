import { type Host, say } from "./host.ts";
import { UsageError } from "./usage.ts";

// The pipeline is imported late, and file by file, because index.ts doubles the memory of build jobs.

/**
 * The site of a command: as given, from the environment, or the only one.
 * @param flag the option that names it; "" for an argument
 * @param config path or URL of another catalog.yaml
 */
export async function siteOf(given: string | undefined, host: Host, flag = "", config?: string) {
  const site = given ?? host.environment.RELCAT_SITE;
  if (site !== undefined) return site;
  const { loadConfig, loadConfiguration } = await import("../../pipeline/project/configuration.ts");
  const { releases } = host;
  const { sites } = await (config === undefined ? loadConfig(releases) : loadConfiguration(releases, config));
  return onlyOne("site", [...sites.keys()], flag, host);
}

/** Chooses the release of files that neither the command line nor the files name. */
export const openRelease = (host: Host) => async (): Promise<string> => {
  const { openVersions } = await import("../../pipeline/intake/ingest/store-manifest.ts");
  return onlyOne("release", openVersions(host.releases), "--release ", host);
};

const kinds = {
  site: {
    kind: "site in catalog.yaml",
    ifNone: 'Name one there: sites: { prod: { url: "dir:/srv/catalog" } }',
  },
  release: {
    kind: "open release",
    ifNone: "Open one with relcat new, or name the release: --release 26.08.002.",
  },
};

/** CI must name it, so that a second one does not change what a job does. @throws UsageError */
function onlyOne(what: keyof typeof kinds, names: readonly string[], flag: string, host: Host): string {
  const { kind, ifNone } = kinds[what];
  const [name, ...others] = names;
  if (name === undefined) throw new UsageError(`there is no ${kind}`, ifNone);
  if (others.length === 0 && !host.environment.CI) {
    say(host, `Using the only ${kind}: ${name}.`);
    return name;
  }
  const why = others.length > 0 ? "there is more than one" : "a job of CI must name it";
  const hint = `Name one: ${names.map((each) => flag + each).join(" or ")}`;
  throw new UsageError(`no ${what} is named, and ${why}`, hint);
}
