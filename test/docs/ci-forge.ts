import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { repository, temporaryFolder } from "../support/run.ts";
import { launcher } from "./pasted.ts";

/** A machine that runs jobs: a clone of the shared repository, and programs on its PATH. */
export interface Machine {
  folder: string;
  git(...args: string[]): Promise<string>;
  /** Runs `sh ci/steps/NAME ARG…` as a workflow does; never rejects. */
  step(name: string, ...args: string[]): Promise<StepResult>;
  /** As `step`, for steps that must succeed. */
  succeed(name: string, ...args: string[]): Promise<StepResult>;
  sh(script: string): Promise<StepResult>;
  write(path: string, content: string | object): void;
  read(path: string): string;
}

export interface StepResult {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

/** A shared repository on a forge, with recorded calls of its command line. */
export interface Forge {
  clone(): Promise<Machine>;
  /** Arguments of every call of gh or glab that changes something. */
  calls(): string[][];
  /** Current body of the open request. */
  body(branch: string): string;
  origin: string;
}

const now = "2026-11-20T10:00:00Z";

/**
 * The only fake here: gh and glab, which store open requests in a folder, by branch, and record their calls.
 */
const fake = `#!/usr/bin/env bash
set -euo pipefail
state=$FORGE_STATE request=$2
option() { local name=$1; shift; while [ $# -gt 1 ]; do [ "$1" = "$name" ] && { printf '%s' "$2"; return; }; shift; done; }
body() { local file; file=$(option --body-file "$@"); [ -n "$file" ] && cat "$file" || option --description "$@"; }
if [ "$request" = list ]; then
  file=$state/$(option --head "$@" | tr / _)$(option --source-branch "$@" | tr / _)
  number=$([ -f "$file" ] && head -n 1 "$file" || true)
  if [ "\${0##*/}" = gh ]; then echo "$number"
  elif [ -n "$number" ]; then echo "[{\\"iid\\":9,\\"source_project_id\\":2,\\"target_project_id\\":1},{\\"iid\\":$number,\\"source_project_id\\":1,\\"target_project_id\\":1}]"
  else echo '[]'; fi
  exit
fi
printf '%s\\0' "$@" >>"$state/calls"; printf '\\n' >>"$state/calls"
if [ "$request" = create ]; then
  file=$state/$(option --head "$@" | tr / _)$(option --source-branch "$@" | tr / _)
  [ ! -e "$file" ] || { echo "a request is open already" >&2; exit 1; }
  number=$(find "$state" -name 'release_*' | wc -l); number=$((number + 1))
else
  number=$3
  file=$(grep -lx "$number" "$state"/release_*)
fi
{ echo "$number"; body "$@"; } >"$file.new" && mv "$file.new" "$file"
`;

/**
 * A forge with one repository: a project, the steps in ci/steps, and its own build.
 * @param env additional variables of its jobs
 */
export async function forge(
  files: Record<string, string | object>,
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<Forge> {
  const folder = temporaryFolder();
  const [origin, state, bin] = ["group/project.git", "state", "bin"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [origin, state, bin]) mkdirSync(each, { recursive: true });
  const program = (name: string, text: string) => {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  };
  program("gh", fake);
  program("glab", fake);
  await execa("git", ["init", "--quiet", "--bare", "--initial-branch=main", origin]);
  const clone = () => cloneOf(origin, { folder, state, bin, env });
  const first = await clone();
  for (const [path, content] of Object.entries(files)) first.write(path, content);
  cpSync(join(repository, "docs/ci/steps"), join(first.folder, "ci/steps"), { recursive: true });
  first.write(".gitignore", "node_modules/\n/out/\n/manifests/\n/handed/\n/dist/\n.relcat-*\n");
  first.write(".gitattributes", "releases/ledger.jsonl -merge text eol=lf\n");
  await first.git("add", ".");
  await first.git("commit", "--quiet", "--message", "Start");
  await first.git("push", "--quiet", "origin", "HEAD:main");
  return {
    origin,
    clone,
    calls: () => {
      const file = join(state, "calls");
      const lines = existsSync(file) ? readFileSync(file, "utf8").split("\0\n").slice(0, -1) : [];
      return lines.map((line) => line.split("\0"));
    },
    body: (branch) => readFileSync(join(state, branch.replaceAll("/", "_")), "utf8").replace(/^\d+\n/, ""),
  };
}

interface Place {
  /** Contains everything, also the clones. */
  folder: string;
  state: string;
  bin: string;
  env: Readonly<Record<string, string | undefined>>;
}

async function cloneOf(origin: string, place: Place): Promise<Machine> {
  const folder = join(mkdtempSync(join(place.folder, "machine-")), "clone");
  const env = environment(place);
  await execa("git", ["clone", "--quiet", origin, folder], { env });
  installRelcat(folder, await launcher(place.folder));
  const sh = async (script: string, ...args: string[]): Promise<StepResult> => {
    const result = await execa("bash", ["-c", script, "bash", ...args], { cwd: folder, env, reject: false });
    return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  };
  const step = (name: string, ...args: string[]) => sh(`sh ci/steps/${name}.sh "$@"`, ...args);
  return {
    folder,
    git: async (...args) => (await execa("git", args, { cwd: folder, env })).stdout,
    step,
    sh,
    async succeed(name, ...args) {
      const result = await step(name, ...args);
      if (result.exitCode !== 0)
        throw new Error(`${name} ${args.join(" ")}\n${result.stdout}\n${result.stderr}`);
      return result;
    },
    write(path, content) {
      const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
      if (text.startsWith("#!")) chmodSync(join(folder, path), 0o755);
    },
    read: (path) => readFileSync(join(folder, path), "utf8"),
  };
}

/** Installs the command that package-lock.json pins, like npm ci. */
function installRelcat(folder: string, command: string): void {
  const bin = join(folder, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "relcat"), command);
  chmodSync(join(bin, "relcat"), 0o755);
  symlinkSync(process.execPath, join(bin, "node"));
}

/** A minimal environment like that of a CI job, without the user's own configuration. */
const environment = ({ folder, state, bin, env }: Place) => ({
  PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: state,
  FORGE_STATE: state,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Release job",
  GIT_AUTHOR_EMAIL: "release@example.com",
  GIT_COMMITTER_NAME: "Release job",
  GIT_COMMITTER_EMAIL: "release@example.com",
  GITHUB_SHA: "0123456789abcdef0123456789abcdef01234567",
  CI_SERVER_URL: `file://${folder}`,
  CI_PROJECT_PATH: "group/project",
  RELEASE_TOKEN: "secret",
  SOURCE_DATE_EPOCH: String(Date.parse(now) / 1000),
  CI: "true",
  GITHUB_ACTIONS: "true",
  GITHUB_STEP_SUMMARY: join(state, "summary.md"),
  GITHUB_EVENT_NAME: "workflow_dispatch",
  CI_COMMIT_SHA: undefined,
  ...env,
});
