/** @module-tag long */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { repository } from "../support/run.ts";
import { type PinnedProject, pinnedProject } from "./ci-pinned.ts";
import { githubSchema } from "./github-schema.ts";

const folder = join(repository, "docs/ci");
const text = (path: string) => readFileSync(join(folder, path), "utf8");

const other = `sha512-${"A".repeat(86)}==`;

/** Jobs on a pull request and on main, without signing: the installed relcat is that of the lockfile. */
async function expectSteps(
  at: PinnedProject,
  run: (step: string, integrity: string) => ReturnType<PinnedProject["line"]>,
) {
  const refused = await run("check", other);
  expect([refused.exitCode, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toBe(
    `pinned.sh: package-lock.json has relcat with ${at.integrity}, expected ${other}\n` +
      "Install the version that this job names, or change integrity where the job names it, in a commit of its own.",
  );
  const checked = await run("check", at.integrity);
  expect(checked.stdout, checked.stderr).toContain("the ledger only grew since origin/main");
  expect(existsSync(join(at.machine.folder, "node_modules/relcat/relcat.sh"))).toBe(true);
  const built = await run("site", at.integrity);
  expect(built.exitCode, built.stderr).toBe(0);
  expect(JSON.parse(at.machine.read("dist/build.json")).provisional).toEqual([]);
}

describe("the action", () => {
  interface Step {
    uses?: string;
    run?: string;
    shell?: string;
    env?: Record<string, string>;
    with?: Record<string, string>;
  }
  const action: {
    inputs: Record<string, { default?: string; required?: boolean }>;
    runs: { steps: Step[] };
  } = parse(text("action/action.yml"));
  test("follows GitHub's schema of actions", async () => {
    const { ofAction } = await githubSchema();
    const written = text("action/action.yml");
    expect(ofAction("action.yml", written)).toEqual([]);
    expect(ofAction("action.yml", written.replace("shell: sh", "shel: sh"))).not.toEqual([]);
  });

  test("pins what it uses by the hash of a commit, and has no expression in a script", () => {
    for (const { uses, run } of action.runs.steps) {
      if (uses) expect(uses).toMatch(/^[a-z-]+\/[a-z-]+@[0-9a-f]{40}$/);
      else expect(run).not.toContain("{{");
    }
    const named = [...text("action/action.yml").matchAll(/\{\{ inputs\.([a-z-]+) \}\}/g)].map(
      ([, name]) => name,
    );
    expect([...new Set(named)].sort()).toEqual(Object.keys(action.inputs).sort());
  });

  /** Runs the scripts of the action as a runner does. @param given inputs */
  async function use(at: PinnedProject, given: Record<string, string>) {
    const value = (name: string) => given[name] ?? action.inputs[name]?.default ?? "";
    const scripts = action.runs.steps.filter(({ run }) => run !== undefined);
    expect(scripts.map(({ shell }) => shell)).toEqual(["sh"]);
    const [{ run = "", env = {} } = {}] = scripts;
    const filled = Object.entries(env).map(([name, text]) => [
      name,
      text.replace(/\$\{\{ inputs\.([a-z-]+) \}\}/g, (_, input) => value(input)),
    ]);
    return at.line(run, { GITHUB_ACTION_PATH: join(folder, "action"), ...Object.fromEntries(filled) });
  }

  test("refuses another relcat, and then checks and builds with the pinned one", {
    tags: ["long"],
  }, async () => {
    const at = await pinnedProject();
    await expectSteps(at, (step, integrity) => use(at, { step, integrity }));
  });

  test("refuses an unknown step before it installs anything", async () => {
    const at = await pinnedProject();
    const { exitCode, stderr } = await use(at, { step: "deploy", integrity: at.integrity });
    expect([exitCode, stderr]).toEqual([
      2,
      'relcat: the input step is "deploy", expected check, site, publish or refresh',
    ]);
    expect(existsSync(join(at.machine.folder, "node_modules/relcat"))).toBe(false);
  });

  test("refuses a lockfile that pins relcat without a hash", async () => {
    const at = await pinnedProject();
    const lock = JSON.parse(at.machine.read("package-lock.json"));
    delete lock.packages["node_modules/relcat"].integrity;
    at.machine.write("package-lock.json", lock);
    const { exitCode, stderr } = await use(at, { step: "check", integrity: at.integrity });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`package-lock.json has relcat with no integrity, expected ${at.integrity}`);
  });
});

test("the workflows follow GitHub's schema", async () => {
  const { ofWorkflow } = await githubSchema();
  const files = globSync("github/*.yml", { cwd: folder });
  expect(files.map((file) => ofWorkflow(file, text(file)))).toEqual(files.map(() => []));
  expect(ofWorkflow("x.yml", text(files[0] ?? "").replace("runs-on", "run-on"))).not.toEqual([]);
});

describe("the component", () => {
  /** Fields of `spec:inputs` as GitLab's documentation lists them; npm has no package with GitLab's own schema. */
  const specification = z.strictObject({
    spec: z.strictObject({
      inputs: z.record(
        z.string().regex(/^[a-z-]+$/),
        z.strictObject({
          description: z.string(),
          type: z.enum(["string", "number", "boolean", "array"]).optional(),
          default: z.string().optional(),
          options: z.array(z.string()).optional(),
          regex: z.string().optional(),
        }),
      ),
    }),
  });
  const job = z.strictObject({
    extends: z.string().optional(),
    image: z.string().optional(),
    stage: z.string().optional(),
    variables: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
    before_script: z.array(z.string()).optional(),
    script: z.array(z.string()).optional(),
    needs: z.array(z.string()).optional(),
    rules: z.array(z.strictObject({ if: z.string(), when: z.enum(["manual"]).optional() })).optional(),
    environment: z.strictObject({ name: z.string(), action: z.enum(["access"]).optional() }).optional(),
    resource_group: z.string().optional(),
    artifacts: z.strictObject({ paths: z.array(z.string()) }).optional(),
  });
  const [written = "", template = ""] = text("gitlab/templates/relcat.yml").split(/^---\n/m);
  const { inputs } = specification.parse(parse(written)).spec;
  const image = `registry.example.com/node@sha256:${"0".repeat(64)}`;

  /** Jobs as GitLab makes them. @throws if an input is missing or has another form */
  function jobsWith(given: Record<string, string>) {
    const filled = template.replace(/\$\[\[ inputs\.([a-z-]+) \]\]/g, (_, name: string) => {
      const { default: usual, regex } = inputs[name] ?? {};
      const value = given[name] ?? usual;
      if (value === undefined || (regex && !new RegExp(regex).test(value)))
        throw new Error(`${name}: ${value}`);
      return value;
    });
    const jobs = z.record(z.string(), job).parse(parse(filled));
    return Object.fromEntries(
      Object.entries(jobs).map(([name, own]) => {
        const base = own.extends ? jobs[own.extends] : {};
        return [name, { ...base, ...own, variables: { ...base?.variables, ...own.variables } }];
      }),
    );
  }

  test("has a header of inputs and jobs with the fields that GitLab documents, and uses each input", () => {
    expect(parseAllDocuments(text("gitlab/templates/relcat.yml")).length).toBe(2);
    expect(Object.keys(jobsWith({ integrity: other, image }))).toEqual([
      ".relcat",
      ...["check", "site", "publish", "refresh"].map((name) => `relcat-${name}`),
    ]);
    const used = [...template.matchAll(/\$\[\[ inputs\.([a-z-]+) \]\]/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).toEqual(Object.keys(inputs).sort());
  });

  test("needs a hash of relcat and a digest of the image", () => {
    expect(() => jobsWith({ image })).toThrow("integrity: undefined");
    expect(() => jobsWith({ integrity: "sha512-x", image })).toThrow("integrity: sha512-x");
    expect(() => jobsWith({ integrity: other, image: "node:26" })).toThrow("image: node:26");
  });

  test("publishes only after an approval, one job at a time, and from main", () => {
    const { "relcat-publish": publish, "relcat-refresh": refresh } = jobsWith({ integrity: other, image });
    expect(publish?.rules).toEqual([expect.objectContaining({ when: "manual" })]);
    for (const each of [publish, refresh]) {
      expect(each?.resource_group).toBe("relcat-publish");
      expect(each?.rules?.[0]?.if).toContain("$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH");
      expect(each?.variables.GIT_DEPTH).toBe(0);
    }
  });

  test("refuses another relcat, and then checks and builds with the pinned one", {
    tags: ["long"],
  }, async () => {
    const at = await pinnedProject();
    await expectSteps(at, (step, integrity) => {
      const {
        before_script = [],
        script = [],
        variables,
      } = jobsWith({ integrity, image })[`relcat-${step}`] ?? {};
      const env = Object.entries(variables ?? {}).map(([name, value]) => [name, String(value)]);
      const lines = ["set -e", ...before_script, ...script].join("\n");
      return at.line(lines, { ...Object.fromEntries(env), CI_MERGE_REQUEST_TARGET_BRANCH_NAME: "main" });
    });
  });
});
