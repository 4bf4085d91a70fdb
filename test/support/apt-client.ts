import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { temporaryFolder } from "./run.ts";

/** A machine of its own: apt's lists and cache, and dpkg's database, below a folder. */
export interface AptClient {
  root: string;
  /** Runs apt-get, or another program of apt. @returns both outputs in one, and the exit code */
  run(program: string, ...args: string[]): Promise<{ exitCode: number; output: string }>;
  /** As `run` with apt-get, for what must succeed. */
  get(...args: string[]): Promise<string>;
  /** Puts a .sources file in place of the last one. */
  use(sources: string): void;
  /** The installed version; undefined: not installed. */
  installed(name: string): Promise<string | undefined>;
}

export interface AptOptions {
  architecture?: string;
  foreign?: readonly string[];
  /** Lines of apt.conf. */
  settings?: readonly string[];
}

/** Keeps its hands off this machine: dpkg installs below the folder too. */
export function aptClient({
  architecture = "amd64",
  foreign = [],
  settings = [],
}: AptOptions = {}): AptClient {
  const root = temporaryFolder();
  const folders = [
    ...["etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "etc/apt/trusted.gpg.d"],
    ...["var/lib/apt/lists/partial", "var/cache/apt/archives/partial", "var/log/apt", "var/run"],
    ...["var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "var/lib/dpkg/parts"],
  ];
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  for (const file of ["status", "available", "diversions", "statoverride"])
    writeFileSync(join(root, "var/lib/dpkg", file), "");
  writeFileSync(join(root, "var/lib/dpkg/arch"), `${[architecture, ...foreign].join("\n")}\n`);
  const dpkg = join(root, "dpkg");
  writeFileSync(dpkg, `#!/bin/sh\nexec /usr/bin/dpkg --root=${root} --force-not-root,architecture "$@"\n`, {
    mode: 0o755,
  });
  const names = [architecture, ...foreign];
  const config = join(root, "apt.conf");
  writeFileSync(
    config,
    `${[
      `Dir "${root}";`,
      `Dir::State::status "${root}/var/lib/dpkg/status";`,
      `Dir::Bin::dpkg "${dpkg}";`,
      "#clear DPkg::Pre-Install-Pkgs;",
      "#clear DPkg::Post-Invoke;",
      "#clear APT::Update::Post-Invoke;",
      "#clear APT::Update::Post-Invoke-Success;",
      `APT::Architecture "${architecture}";`,
      `APT::Architectures { ${names.map((name) => `"${name}";`).join(" ")} };`,
      'APT::Sandbox::User "root";',
      'APT::Get::Assume-Yes "true";',
      'Acquire::Retries "0";',
      // Some images switch these off.
      'Acquire::Check-Valid-Until "true";',
      'Acquire::Check-Date "true";',
      'Acquire::Languages "none";',
      ...settings,
    ].join("\n")}\n`,
  );
  const env = { APT_CONFIG: config, LC_ALL: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };
  const run: AptClient["run"] = async (program, ...args) => {
    const { exitCode = -1, all } = await execa(program, args, { env, all: true, reject: false });
    return { exitCode, output: all };
  };
  return {
    root,
    run,
    async get(...args) {
      const { exitCode, output } = await run("apt-get", ...args);
      if (exitCode !== 0) throw new Error(`apt-get ${args.join(" ")}: ${exitCode}\n${output}`);
      return output;
    },
    use: (sources) => writeFileSync(join(root, "etc/apt/sources.list.d/site.sources"), sources),
    async installed(name) {
      const { stdout } = await execa(
        "dpkg-query",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: fields of dpkg-query.
        [`--admindir=${root}/var/lib/dpkg`, "-W", "-f", "${db:Status-Abbrev} ${Version}", name],
        { reject: false },
      );
      return /^ii +(\S+)$/.exec(stdout)?.[1];
    },
  };
}
