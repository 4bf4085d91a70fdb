import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { unpackPackages } from "./debian-packages.ts";
import { madeOnce, temporaryFolder } from "./run.ts";

/** A machine of its own: a package manager with its settings, caches, keys and database of packages. */
export interface YumClient extends Words {
  /** The program and the options that keep it inside the machine. */
  command: readonly string[];
  /** Folder of .repo files. */
  repos: string;
  /** Folder of downloaded packages and indexes. */
  cache: string;
  /** Puts a .repo file in place of the last one. */
  use(repo: string): void;
  /** Runs a command of the package manager. @returns both outputs in one, and the exit code */
  run(...args: readonly string[]): Promise<{ exitCode: number; output: string }>;
  /** As `run`, for what must succeed. @returns both outputs in one */
  succeed(...args: readonly string[]): Promise<string>;
  /** Name, version and architecture of each installed rpm. */
  installed(): Promise<string[]>;
}

/** Commands that differ between the package managers. */
interface Words {
  /** Reads the repository's metadata again. */
  refresh: readonly string[];
  /** All packages with their versions. */
  list: readonly string[];
  /** Downloads a package for the machine's architecture. */
  download(name: string): string[];
  pinned(name: string, version: string): string[];
  downgrade(name: string, version: string): string[];
  upgrade: readonly string[];
  /** Security updates that the machine needs. */
  advisories: readonly string[];
  /** All security updates for a vulnerability. */
  advisoriesOf(cve: string): string[];
}

interface Program {
  /** Folder of .repo files, from the machine's root. */
  repos: string;
  /** Folder of downloaded packages and indexes, from the machine's root. */
  cache: string;
  /** Database of installed rpms, from the machine's root. */
  database: string;
  command: readonly [string, ...string[]];
  env?: Record<string, string>;
}

function client({ repos, cache, database, command, env }: Program, root: string, words: Words): YumClient {
  const [program, ...first] = command;
  const run: YumClient["run"] = async (...args) => {
    const options = { env: { LC_ALL: "C.UTF-8", ...env }, all: true, reject: false } as const;
    const { exitCode = -1, all } = await execa(program, [...first, ...args], options);
    return { exitCode, output: all };
  };
  mkdirSync(join(root, repos), { recursive: true });
  return {
    ...words,
    command,
    repos: join(root, repos),
    cache: join(root, cache),
    run,
    use: (repo) => writeFileSync(join(root, repos, "site.repo"), repo),
    async succeed(...args) {
      const { exitCode, output } = await run(...args);
      if (exitCode !== 0) throw new Error(`${program} ${args.join(" ")}: ${exitCode}\n${output}`);
      return output;
    },
    async installed() {
      const query = ["-qa", "--qf", "%{NAME}-%{VERSION}.%{ARCH}\\n"];
      const { stdout } = await execa("rpm", ["--root", root, "--dbpath", database, ...query]);
      return stdout
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("gpg-pubkey"))
        .sort();
    },
  };
}

const dnfWords: Words = {
  refresh: ["makecache", "--refresh"],
  list: ["repoquery", "--qf", "%{name}-%{version}.%{arch}"],
  download: (name) => ["install", "--downloadonly", name],
  pinned: (name, version) => ["install", `${name}-${version}`],
  downgrade: (name, version) => ["downgrade", `${name}-${version}`],
  upgrade: ["upgrade"],
  advisories: ["updateinfo", "list", "--security"],
  advisoriesOf: (cve) => ["updateinfo", "list", "--all", "--cve", cve],
};

/** Debian's dnf, which installs below a folder. */
export function dnfClient({ arch = "x86_64" } = {}): YumClient {
  const root = temporaryFolder();
  mkdirSync(join(root, "log"));
  const settings = {
    reposdir: `${root}/etc/yum.repos.d`,
    cachedir: `${root}/cache`,
    logdir: `${root}/log`,
    persistdir: `${root}/state`,
    retries: "1",
    skip_if_unavailable: "0",
  };
  const program: Program = {
    repos: "etc/yum.repos.d",
    cache: "cache",
    // Debian's rpm has a database for each user.
    database: join(homedir(), ".rpmdb"),
    command: [
      "dnf",
      ...["--assumeyes", "--disableplugin=*", "--enableplugin=reposync", "--enableplugin=changelog"],
      ...["--releasever=1", `--forcearch=${arch}`, `--installroot=${root}`],
      ...Object.entries(settings).map(([name, value]) => `--setopt=${name}=${value}`),
    ],
  };
  return client(program, root, dnfWords);
}

/** zypper and dnf exclude each other as Debian's packages, so zypper is in a folder of its own. */
export const zypperRoot = (): Promise<string> =>
  madeOnce("zypper", (folder) => unpackPackages(["zypper", "bash", "dash"], folder));

const zypperWords: Words = {
  refresh: ["refresh", "--force"],
  list: ["search", "--details", "--type", "package"],
  download: (name) => ["install", "--download-only", name],
  pinned: (name, version) => ["install", `${name}=${version}`],
  downgrade: (name, version) => ["install", "--oldpackage", `${name}=${version}`],
  upgrade: ["update"],
  advisories: ["list-patches", "--category", "security"],
  advisoriesOf: (cve) => ["list-patches", "--all", `--cve=${cve}`],
};

let machines = 0;

/** @param host the folder of `zypperRoot` */
export function zypperClient(host: string, { arch = "x86_64" } = {}): YumClient {
  machines += 1;
  // Other processes use the folder, too.
  const [inside, settings] = ["machine-", "zypp-"].map((name) => `/${name}${process.pid}-${machines}`) as [
    string,
    string,
  ];
  writeFileSync(join(host, settings), `[main]\narch = ${arch}\n`);
  const options = ["--non-interactive", "--gpg-auto-import-keys", "--root", inside];
  const program: Program = {
    repos: "etc/zypp/repos.d",
    cache: "var/cache/zypp",
    database: "/var/lib/rpm",
    command: ["chroot", host, "zypper", ...options],
    env: { ZYPP_CONF: settings },
  };
  return client(program, join(host, inside), zypperWords);
}
