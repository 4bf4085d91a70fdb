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
  const { loadSettings, openSettings } = await import("../../pipeline/project/settings.ts");
  const { sites } =
    config === undefined
      ? (await openSettings(host.releases)).config
      : await loadSettings(host.releases, config);
  const names = [...sites.keys()];
  const none = 'Name one there: sites: { prod: { url: "dir:/srv/catalog" } }';
  return onlyOne("site in catalog.yaml", names, flag, none, host);
}

/** Chooses the release of files that neither the command line nor the files name. */
export const openRelease = (host: Host) => async (): Promise<string> => {
  const { openVersions } = await import("../../pipeline/intake/ingest/store-manifest.ts");
  const ways = "Open one with relcat new, or name a release: --release 26.08.002";
  return onlyOne("open release", openVersions(host.releases), "--release ", ways, host);
};

/** CI must name it, so that a second one does not change what a job does. @throws UsageError */
function onlyOne(what: string, names: readonly string[], flag: string, ifNone: string, host: Host): string {
  const [name, ...others] = names;
  if (name === undefined) throw new UsageError(`there is no ${what}`, ifNone);
  if (others.length > 0 || host.environment.CI) {
    const why = others.length > 0 ? "there is more than one" : "a CI job must name it";
    const hint = `Name one: ${names.map((each) => flag + each).join(" or ")}`;
    throw new UsageError(`the command line names no ${what}, and ${why}`, hint);
  }
  say(host, `Using the only ${what}: ${name}.`);
  return name;
}
