import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { repository } from "../support/run.ts";

const folder = join(repository, "docs/ci");
const text = (path: string) => readFileSync(join(folder, path), "utf8");
const steps = readdirSync(join(folder, "steps"));

/** A step file with words and quoted variables, without other syntax of a shell or the forge. */
const call = /^sh ci\/steps\/([a-z-]+\.sh)(?: [a-z]+| "\$[A-Z_]+")*$/;

interface Step {
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

interface Job {
  if?: string;
  permissions?: object;
  environment?: string;
  concurrency?: { group: string; "cancel-in-progress": boolean };
  steps: Step[];
}

interface Workflow {
  permissions: object;
  jobs: Record<string, Job>;
}

const workflows: [string, Workflow][] = readdirSync(join(folder, "github"))
  .sort()
  .map((file) => [file, parse(text(`github/${file}`))]);

interface GitlabJob {
  script?: string[];
  before_script?: string[];
  environment?: { name: string };
  extends?: string;
  variables?: Record<string, unknown>;
  resource_group?: string;
  rules?: { if: string; when?: string }[];
}

const gitlab: Record<string, GitlabJob> = parse(text("gitlab/.gitlab-ci.yml"));
const scripts = Object.entries(gitlab).flatMap(([name, job]) =>
  [...(job.before_script ?? []), ...(job.script ?? [])].map((line) => ({ name, line })),
);
const runs = workflows.flatMap(([, { jobs }]) =>
  Object.values(jobs).flatMap((job) => job.steps.flatMap(({ run }) => (run === undefined ? [] : [run]))),
);

test("each job that compares the ledger fetches the whole history", () => {
  const comparing = /(check|collect|site|publish|refresh)\.sh/;
  const github = workflows.flatMap(([, { jobs }]) => Object.entries(jobs));
  const depths = [
    ...github
      .filter(([, { steps }]) => steps.some(({ run = "" }) => comparing.test(run)))
      .map(([name, { steps }]) => [
        name,
        steps.find(({ uses }) => /checkout/.test(uses ?? ""))?.with?.["fetch-depth"],
      ]),
    ...Object.entries(gitlab)
      .filter(([, { script = [] }]) => script.some((line) => comparing.test(line)))
      .map(([name, job]) => [name, { ...gitlab[job.extends ?? ""]?.variables, ...job.variables }.GIT_DEPTH]),
  ];
  const jobs = [
    "check",
    "site",
    "publish",
    "refresh",
    "propose",
    "check",
    "propose",
    "site",
    "publish",
    "refresh",
  ];
  expect(depths).toEqual(jobs.map((name) => [name, 0]));
});

describe("GitHub", () => {
  test("each job has the rights it needs and no more", () => {
    const rights = workflows.flatMap(([, { permissions, jobs }]) => [
      ["default", permissions],
      ...Object.entries(jobs).map(([name, job]) => [name, job.permissions]),
    ]);
    expect(rights).toEqual([
      ["default", {}],
      ["check", { contents: "read" }],
      ["site", { contents: "read" }],
      ["publish", { contents: "read", "id-token": "write" }],
      ["default", {}],
      ["refresh", { contents: "read", "id-token": "write" }],
      ["default", {}],
      ["build", { contents: "read", "id-token": "write" }],
      ["propose", { contents: "write", "pull-requests": "write" }],
    ]);
  });

  test("only the job that pushes keeps credentials, and only the step that needs the token has it", () => {
    for (const [file, { jobs }] of workflows) {
      for (const [name, job] of Object.entries(jobs)) {
        const checkout = job.steps.find(({ uses }) => uses?.startsWith("actions/checkout@"));
        expect([name, checkout?.with?.["persist-credentials"]]).toEqual([
          name,
          name === "propose" ? undefined : false,
        ]);
        const tokens = job.steps.filter((step) => JSON.stringify(step).includes("github.token"));
        expect(tokens.every(({ run }) => run?.startsWith("sh ci/steps/propose-github.sh"))).toBe(true);
      }
      expect(text(`github/${file}`)).not.toMatch(/pull_request_target/);
    }
  });

  test("signing keys are the only secrets, and only the steps that sign have them", () => {
    const having = workflows.flatMap(([, { jobs }]) =>
      Object.entries(jobs).flatMap(([name, { steps: all, ...job }]) => {
        expect(JSON.stringify(job)).not.toContain("secrets.");
        return all
          .filter((step) => JSON.stringify(step).includes("secrets."))
          .map(({ run, env }) => [name, run, env]);
      }),
    );
    const secret = (name: string) => [name, `$\{{ secrets.${name} }}`];
    const key = Object.fromEntries(
      ["RELCAT_ONLINE_KEY", "RELCAT_OPENPGP_KEY", "RELCAT_PACKSLIP_KEY"].map(secret),
    );
    expect(having).toEqual([
      ["publish", 'sh ci/steps/publish.sh "$GITHUB_SHA"', key],
      ["refresh", "sh ci/steps/refresh.sh", key],
    ]);
  });

  test("publish needs an approval, on main, one job at a time; refresh waits for it and needs no approval", () => {
    const jobs = Object.assign({}, ...workflows.map(([, each]) => each.jobs)) as Workflow["jobs"];
    const turn = { group: "publish-prod", "cancel-in-progress": false };
    expect(jobs.publish).toMatchObject({ environment: "prod", concurrency: turn });
    expect(jobs.refresh).toMatchObject({
      environment: "prod-refresh",
      concurrency: turn,
      if: "github.ref == 'refs/heads/main'",
    });
    const checkout = jobs.publish?.steps.find(({ uses }) => uses?.startsWith("actions/checkout@"));
    expect(checkout?.with?.ref).toMatch(/^\$\{\{ github\.sha \}\}$/);
    const others = Object.entries(jobs).filter(([name]) => name !== "publish" && name !== "refresh");
    expect(others.flatMap(([, { environment }]) => environment ?? [])).toEqual([]);
  });

  test("all files pin each action to one version", () => {
    const used = workflows.flatMap(([, { jobs }]) =>
      Object.values(jobs).flatMap(({ steps: all }) => all.flatMap(({ uses }) => uses ?? [])),
    );
    expect([...new Set(used)].sort()).toEqual([
      "actions/checkout@v5",
      "actions/download-artifact@v6",
      "actions/setup-node@v5",
      "actions/upload-artifact@v5",
    ]);
  });

  test("every script line only calls a step, and contains no expression", () => {
    for (const run of runs) expect(run).toMatch(call);
  });
});

describe("GitLab", () => {
  test("every script line only calls a step", () => {
    for (const { line } of scripts) expect(line).toMatch(call);
  });

  test("only the job that proposes has the token", () => {
    const scoped = Object.entries(gitlab).flatMap(([name, { environment }]) =>
      environment ? [[name, environment.name]] : [],
    );
    expect(scoped).toEqual([
      ["propose", "release-request"],
      ["publish", "prod"],
      ["refresh", "prod-refresh"],
    ]);
    const said = text("gitlab/.gitlab-ci.yml").replace(/#.*/g, "").replaceAll("AWS_ID_TOKEN", "");
    expect(said).not.toMatch(/TOKEN(?!_FILE)|_KEY|secrets/);
  });

  test("publish is started by a person, on main, one job at a time; refresh by the schedule", () => {
    expect(gitlab[".publishing"]?.resource_group).toBe("prod");
    for (const name of ["publish", "refresh"]) {
      expect(gitlab[name]?.extends).toBe(".publishing");
      expect(
        gitlab[name]?.rules?.every((rule) => rule.if.includes("$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH")),
      ).toBe(true);
    }
    expect(gitlab.publish?.rules).toEqual([expect.objectContaining({ when: "manual" })]);
  });
});

test("all steps exist, are used, and are valid shell", async () => {
  const component = [...text("gitlab/templates/relcat.yml").matchAll(/^ +- (sh .*)$/gm)].map(
    ([, line = ""]) => line,
  );
  for (const line of component) expect(line).toMatch(call);
  const lines = [...runs, ...scripts.map(({ line }) => line), ...component];
  const called = new Set(lines.map((line) => call.exec(line)?.[1]));
  expect([...called].sort()).toEqual([...steps].sort());
  for (const step of steps) {
    const lines = text(`steps/${step}`).split("\n");
    expect(lines[0]).toBe("#!/bin/sh");
    expect(lines).toContain("set -eu");
    expect(lines[1]?.startsWith(`# ${step}`)).toBe(true);
    await execa("sh", ["-n", join(folder, "steps", step)]);
  }
});

test("both forges call the same steps", () => {
  const github = runs.map((line) => line.replace("-github", "")).sort();
  const others = scripts.map(({ line }) => call.exec(line)?.[1]?.replace("-gitlab", ""));
  expect(new Set(others)).toEqual(new Set(github.map((line) => call.exec(line)?.[1])));
});
