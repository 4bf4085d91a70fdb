import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { execa } from "execa";
import { tufClient } from "../trust/support.ts";
import { aptClient } from "./apt-client.ts";
import { unpackPackages } from "./debian-packages.ts";
import type { FeedSite } from "./feed-site.ts";
import { madeOnce, repository, temporaryFolder } from "./run.ts";
import { dnfClient, type YumClient, zypperClient, zypperRoot } from "./yum-clients.ts";

/** Programs that people have, unmodified, each on a machine of its own, at a signed site with package feeds. */

export interface Place {
  site: FeedSite;
  /** Its host over TLS, at whose root the list of packslip and the registry are. */
  host: { url: string; authority: string };
  /** packslip's name of the site. */
  project: string;
}

/** A machine, or a user, that follows the site. */
export interface Client {
  /** Installs the newest release, or updates to it. @returns its version, as the client writes it */
  install(): Promise<string>;
  /** The newest version in the list that a user of earlier releases sees; undefined: `install` reads the list again. */
  newest?(): Promise<string>;
}

export interface ClientKind {
  /** @param earlier a client whose lock file the new one has, if it keeps one */
  make(earlier?: Client): Client | Promise<Client>;
  /** Paths of files with changed bytes, and why the client refuses them; undefined: it checks none. */
  altered?: readonly [paths: RegExp, cause: RegExp];
  /** True: it knows checksums only of what it installed before. */
  trustsFirst?: true;
  /** Versions are 26.8.2, not 26.08.002. */
  isSemver?: true;
  /** It keeps a withdrawn release that it has. */
  keeps?: true;
}

export function clientsOf(place: Place): Record<string, ClientKind> {
  const { site } = place;
  const list: ClientKind["altered"] = [/^targets\/.*versions\.json$/, /hash/i];
  return {
    apt: { make: () => aptUser(site), altered: [/\.deb$/, /Hash Sum mismatch/], keeps: true },
    dnf: {
      make: () => yumUser(site, dnfClient()),
      altered: [/\.rpm$/, /checksum doesn't match/i],
      keeps: true,
    },
    zypper: {
      make: async () => yumUser(site, zypperClient(await zypperRoot())),
      altered: [/\.rpm$/, /checksum mismatch|digest verification failed/i],
      keeps: true,
    },
    skopeo: {
      make: () => skopeoUser(place),
      altered: [/^v2\/.*\/blobs\//, /digest did not match/i],
      isSemver: true,
    },
    lxc: { make: () => lxcUser(place), altered: [/\.qcow2$/, /Hash mismatch/] },
    "tuf-js": { make: () => tufUser(place, "tuf-js"), altered: list, isSemver: true },
    "python-tuf": { make: () => tufUser(place, "python-tuf"), altered: list, isSemver: true },
    "mise, backend http": {
      make: (earlier?: Partial<MiseUser>) => miseUser(place, { lock: earlier?.lock?.() ?? "" }),
      altered: [/\.tar\.gz$/, /checksum mismatch/i],
      trustsFirst: true,
    },
    "mise, backend packslip": {
      make: () => miseUser(place, { backend: "packslip" }),
      altered: [/\.tar\.gz$/, /sha256 is \w+, document says \w+/],
      isSemver: true,
    },
    Renovate: { make: () => ({ install: async () => (await renovate(place)).newValue }), isSemver: true },
  };
}

async function aptUser(site: FeedSite): Promise<Client> {
  const client = aptClient();
  client.use(await site.text("acme-bookworm.sources"));
  return {
    async install() {
      await client.get("update");
      await client.get("install", "agent");
      return (await client.installed("agent")) ?? "";
    },
  };
}

async function yumUser(site: FeedSite, client: YumClient): Promise<Client> {
  client.use(await site.text("acme-stable.repo"));
  return {
    async install() {
      await client.succeed(...client.refresh);
      const isInstalled = (await client.installed()).length > 0;
      await client.succeed(...(isInstalled ? client.upgrade : ["install", "agent"]));
      return /^agent-(.*)\.x86_64$/.exec((await client.installed()).join(" "))?.[1] ?? "";
    },
  };
}

/** Programs written in Go read their list of authorities from here. */
const trusting = ({ host }: Place) => ({ SSL_CERT_FILE: host.authority });

function skopeoUser(place: Place): Client {
  const skopeo = (...args: string[]) => execa("skopeo", args, { env: trusting(place) });
  const chart = `docker://${new URL(place.host.url).host}/charts/acme`;
  return {
    async install() {
      const { stdout } = await skopeo("list-tags", chart);
      const { Tags: tags } = JSON.parse(stdout) as { Tags: string[] };
      const newest = tags.sort(new Intl.Collator("en", { numeric: true }).compare).at(-1) ?? "";
      await skopeo("copy", `${chart}:${newest}`, `dir:${join(temporaryFolder(), "chart")}`);
      return newest;
    },
  };
}

async function lxcUser(place: Place): Promise<Client> {
  const home = temporaryFolder();
  const env = { ...trusting(place), HOME: home, LXD_CONF: home };
  const lxc = (...args: string[]) => execa("lxc", args, { env, cwd: home, stdin: "ignore" });
  await lxc("remote", "add", "acme", place.host.url, "--protocol", "simplestreams");
  return {
    async install() {
      await lxc("image", "export", "acme:latest/amd64", temporaryFolder());
      const { stdout } = await lxc("image", "info", "acme:latest/amd64");
      return /^ +release: (.*)$/m.exec(stdout)?.[1] ?? "";
    },
  };
}

/** A block of docs/clients.md below a heading, with the names of the site. */
function block({ site, project }: Place, heading: string): string {
  const page = readFileSync(join(repository, "docs/clients.md"), "utf8");
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [, text = ""] = /^```(?:toml|json)\n([\s\S]*?)^```$/m.exec(section) ?? [];
  return text
    .replaceAll("https://downloads.example.com", site.url)
    .replaceAll("downloads.example.com", project);
}

/** As Semantic Versioning writes a version: 26.8.2. */
export const semver = (version: string): string => version.replace(/(?<=^|\.)0+(?=\d)/g, "");

/** `.ci/run` installs mise, Renovate and a Node for it into the folder RELCAT_CLIENTS. */
const PATH = [process.env.RELCAT_CLIENTS, process.env.PATH].join(delimiter);

/** The key that users pin is the second line of a file of minisign. */
export const keyIn = (folder: string): string =>
  readFileSync(join(folder, "releases/trust/packslip.pub"), "utf8").split("\n")[1] ?? "";

interface MiseOptions {
  /** Content of mise.lock. */
  lock?: string;
  /** Words before a command. */
  words?: readonly string[];
  /** Backend of mise. */
  backend?: "http" | "packslip";
  /** Key that the user pinned. */
  pinned?: string;
}

export interface MiseUser extends Client {
  run(...args: string[]): Promise<{ stdout: string; stderr: string }>;
  lock(): string;
}

/** A project that uses the tool. */
export function miseUser(
  place: Place,
  { lock = "", words = [], backend = "http", pinned = keyIn(place.site.project.folder) }: MiseOptions = {},
): MiseUser {
  const home = temporaryFolder();
  const folder = join(home, "project");
  mkdirSync(folder);
  const settings = {
    http: block(place, "mise"),
    packslip: block(place, "packslip").replace("RWQ…", pinned),
  };
  writeFileSync(join(folder, "mise.toml"), settings[backend]);
  writeFileSync(join(folder, "mise.lock"), lock);
  const env = {
    ...trusting(place),
    PATH,
    HOME: home,
    MISE_YES: "1",
    MISE_MINIMUM_RELEASE_AGE: "0s",
    MISE_TRUSTED_CONFIG_PATHS: home,
    MISE_URL_REPLACEMENTS: JSON.stringify({ [`https://${place.project}/`]: place.host.url }),
  };
  let isInstalled = false;
  const run = async (...args: string[]) => {
    const [command = "mise", ...rest] = [...words, "mise", ...args];
    return execa(command, rest, { cwd: folder, env });
  };
  return {
    run,
    lock: () => readFileSync(join(folder, "mise.lock"), "utf8"),
    async install() {
      await run("cache", "clear");
      await run(isInstalled ? "upgrade" : "install");
      isInstalled = true;
      const { stdout } = await run("exec", "--", "tool");
      const version = stdout.replace(/^tool /, "");
      return backend === "packslip" ? semver(version) : version;
    },
    async newest() {
      await run("cache", "clear");
      const { stdout } = await run(
        "ls-remote",
        backend === "http" ? "http:tool" : `packslip:${place.project}`,
      );
      return stdout.split("\n").at(-1) ?? "";
    },
  };
}

/** The update that Renovate finds for 26.8.2. */
export async function renovate(place: Place): Promise<{ newValue: string }> {
  const home = temporaryFolder();
  writeFileSync(join(home, "Dockerfile"), "ENV TOOL_VERSION=26.8.2\n");
  writeFileSync(join(home, "renovate.json"), block(place, "Renovate"));
  const env = { PATH, HOME: home, RENOVATE_BASE_DIR: home, LOG_FORMAT: "json", LOG_LEVEL: "debug" };
  const { stdout } = await execa("renovate", ["--platform=local", "--dry-run=lookup"], { cwd: home, env });
  const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
  const found = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === "packageFiles with updates");
  const { updates } = found.config.regex[0].deps[0];
  if (updates.length !== 1) throw new Error(`Renovate found ${updates.length} updates`);
  return { pendingChecks: undefined, ...updates[0] };
}

/** Reads targets of TUF as a client that keeps its state: their texts, by the names that are asked for. */
type TufReader = (...names: string[]) => Promise<Record<string, string>>;

export const tufReaders = {
  async "tuf-js"({ site }: Place): Promise<TufReader> {
    const state = temporaryFolder();
    return async (...names) => {
      const { client } = tufClient(site.url, firstRoot(site), state);
      const texts: Record<string, string> = {};
      for (const name of names) {
        const target = await client.getTargetInfo(name);
        if (target) texts[name] = readFileSync(await client.downloadTarget(target), "utf8");
      }
      return texts;
    };
  },
  async "python-tuf"({ site, host }: Place): Promise<TufReader> {
    const root = await pythonTufRoot();
    const state = mkdtempSync(join(root, "state-"));
    mkdirSync(join(state, "targets"));
    cpSync(firstRoot(site), join(state, "root.json"));
    // The module for HTTP reads a list of authorities when it is loaded.
    cpSync(host.authority, join(root, "etc/ssl/certs/ca-certificates.crt"));
    const command = [root, "python3", "-c", pythonTufClient, `/${basename(state)}`, site.url];
    return async (...names) => {
      const { stdout } = await execa("chroot", [...command, ...names]);
      return JSON.parse(stdout);
    };
  },
};

const firstRoot = (site: FeedSite) => join(site.project.folder, "releases/trust/1.root.json");

/** python-tuf 5.1 of Debian 13, because Debian 12 has none. */
const pythonTufRoot = (): Promise<string> =>
  madeOnce("python-tuf", (folder) => unpackPackages(["base-files", "python3-tuf"], folder, "trixie"));

const pythonTufClient = `import json, sys
from tuf.ngclient import Updater
state, url, *names = sys.argv[1:]
client = Updater(state, url + "/metadata/", state + "/targets", url + "/targets/")
texts = {}
for name in names:
    target = client.get_targetinfo(name)
    if target:
        with open(client.download_target(target)) as file:
            texts[name] = file.read()
print(json.dumps(texts))
`;

/** Takes the newest version of the signed list, and reads the signed document of its release. */
async function tufUser(place: Place, name: keyof typeof tufReaders): Promise<Client> {
  const read = await tufReaders[name](place);
  return {
    async install() {
      const { "catalog/versions.json": list = "" } = await read("catalog/versions.json");
      type Row = { version: string; tag: string; isDeprecated?: true };
      const { releases } = JSON.parse(list) as { releases: Row[] };
      const newest = releases.findLast(({ isDeprecated }) => !isDeprecated);
      const document = `releases/${newest?.tag}/release.json`;
      const { [document]: release = "{}" } = await read(document);
      const files = Object.values<{ file: string }>(JSON.parse(release).artifacts ?? {});
      if (!files.some(({ file }) => file === `tool_${newest?.tag}_linux_amd64.tar.gz`))
        throw new Error(`${document} does not name the archive: ${release}`);
      return newest?.version ?? "";
    },
  };
}
