import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { temporaryFolder } from "./run.ts";

/** A machine of its own: a package manager with its settings, caches and database of packages. */
export interface YumClient {
  /** Puts a .repo file in place of the last one. */
  use(repo: string): void;
  /** Runs a command of the package manager. @returns both outputs in one, and the exit code */
  run(...args: string[]): Promise<{ exitCode: number; output: string }>;
  /** As `run`, for what must succeed. @returns both outputs in one */
  succeed(...args: string[]): Promise<string>;
  /** Reads the repository's metadata again. */
  refresh(): Promise<{ exitCode: number; output: string }>;
  /** Name, version and architecture of each installed rpm. */
  installed(): Promise<string[]>;
}

interface Program {
  /** Folder of .repo files, from the machine's root. */
  repos: string;
  /** Database of installed rpms, from the machine's root. */
  database: string;
  command(root: string): [string, ...string[]];
  env?: Record<string, string>;
  refresh: readonly string[];
}

function client(
  { repos, database, command, env, refresh }: Program,
  root: string,
  inside: string,
): YumClient {
  const [program, ...first] = command(inside);
  const run: YumClient["run"] = async (...args) => {
    const options = { env: { LC_ALL: "C.UTF-8", ...env }, all: true, reject: false } as const;
    const { exitCode = -1, all } = await execa(program, [...first, ...args], options);
    return { exitCode, output: all };
  };
  mkdirSync(join(root, repos), { recursive: true });
  return {
    run,
    use: (repo) => writeFileSync(join(root, repos, "site.repo"), repo),
    async succeed(...args) {
      const { exitCode, output } = await run(...args);
      if (exitCode !== 0) throw new Error(`${program} ${args.join(" ")}: ${exitCode}\n${output}`);
      return output;
    },
    refresh: () => run(...refresh),
    async installed() {
      const { stdout } = await execa("rpm", [
        "--root",
        root,
        "--dbpath",
        database,
        "-qa",
        "--qf",
        "%{NAME}-%{VERSION}.%{ARCH}\\n",
      ]);
      return stdout
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("gpg-pubkey"))
        .sort();
    },
  };
}

/** Debian's dnf, which installs below a folder. @param more options of dnf */
export function dnfClient(...more: string[]): YumClient {
  const root = temporaryFolder();
  mkdirSync(join(root, "log"));
  return client(
    {
      repos: "etc/yum.repos.d",
      // Debian's rpm has a database for each user.
      database: "/root/.rpmdb",
      command: (inside) => [
        "dnf",
        ...["--assumeyes", "--noplugins", "--releasever=1", `--installroot=${inside}`],
        ...Object.entries({
          reposdir: `${inside}/etc/yum.repos.d`,
          cachedir: `${inside}/cache`,
          logdir: `${inside}/log`,
          persistdir: `${inside}/state`,
          retries: "1",
          skip_if_unavailable: "0",
        }).map(([name, value]) => `--setopt=${name}=${value}`),
        ...more,
      ],
      refresh: ["makecache", "--refresh"],
    },
    root,
    root,
  );
}

/** zypper and dnf exclude each other as Debian's packages, so zypper is in a folder of its own. */
export async function zypperRoot(): Promise<string> {
  const root = join(temporaryFolder(), "zypper");
  const { VERSION_CODENAME: suite = "" } = Object.fromEntries(
    readFileSync("/etc/os-release", "utf8")
      .split("\n")
      .map((line) => line.split("=")),
  );
  await execa("mmdebstrap", [
    "--quiet",
    "--mode=root",
    "--variant=extract",
    "--include=zypper,bash,dash",
    suite,
    root,
  ]);
  return root;
}

let machines = 0;

/** @param host the folder of `zypperRoot` @param settings lines of zypp.conf */
export function zypperClient(host: string, ...settings: string[]): YumClient {
  machines += 1;
  const inside = `/machine-${machines}`;
  const conf = `/zypp-${machines}.conf`;
  writeFileSync(join(host, conf), ["[main]", ...settings, ""].join("\n"));
  rmSync(join(host, inside), { recursive: true, force: true });
  return client(
    {
      repos: "etc/zypp/repos.d",
      database: "/var/lib/rpm",
      command: (root) => ["chroot", host, "zypper", "--non-interactive", "--root", root],
      env: { ZYPP_CONF: conf },
      refresh: ["refresh", "--force"],
    },
    join(host, inside),
    inside,
  );
}
