import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { repository } from "../support/run.ts";

const folder = join(repository, "docs/ci");
const text = (path: string) => readFileSync(join(folder, path), "utf8");
const steps = readdirSync(join(folder, "steps"));

/** A step file with words and quoted variables: nothing that a shell or the forge would take for more. */
const call = /^sh ci\/steps\/([a-z-]+\.sh)(?: [a-z]+| "\$[A-Z_]+")*$/;

interface Step {
  run?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

interface Workflow {
  permissions: object;
  jobs: Record<string, { permissions?: object; steps: Step[] }>;
}

const workflows: [string, Workflow][] = readdirSync(join(folder, "github"))
  .sort()
  .map((file) => [file, parse(text(`github/${file}`))]);

const gitlab: Record<
  string,
  { script?: string[]; before_script?: string[]; environment?: { name: string } }
> = parse(text("gitlab/.gitlab-ci.yml"));
const scripts = Object.entries(gitlab).flatMap(([name, job]) =>
  [...(job.before_script ?? []), ...(job.script ?? [])].map((line) => ({ name, line })),
);
const runs = workflows.flatMap(([, { jobs }]) =>
  Object.values(jobs).flatMap((job) => job.steps.flatMap(({ run }) => (run === undefined ? [] : [run]))),
);

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
      ["default", {}],
      ["build", { contents: "read" }],
      ["propose", { contents: "write", "pull-requests": "write" }],
    ]);
  });

  test("only the job that pushes keeps credentials, only the step that asks the forge has its token, secrets there are none", () => {
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
      expect(text(`github/${file}`)).not.toMatch(/secrets\.|pull_request_target|id-token/);
    }
  });

  test("every script line only calls a step, and no expression is put into one", () => {
    for (const run of runs) expect(run).toMatch(call);
  });
});

describe("GitLab", () => {
  test("every script line only calls a step", () => {
    for (const { line } of scripts) expect(line).toMatch(call);
  });

  test("the token is seen by the job that proposes, and by no other", () => {
    const scoped = Object.entries(gitlab).flatMap(([name, { environment }]) =>
      environment ? [[name, environment.name]] : [],
    );
    expect(scoped).toEqual([["propose", "release-request"]]);
    expect(text("gitlab/.gitlab-ci.yml").replace(/#.*/g, "")).not.toMatch(/TOKEN|id_tokens|secrets/);
  });
});

test("steps are files that are there, all of them are used, and a shell can read them", async () => {
  const called = new Set([...runs, ...scripts.map(({ line }) => line)].map((line) => call.exec(line)?.[1]));
  expect([...called].sort()).toEqual([...steps].sort());
  for (const step of steps) {
    const lines = text(`steps/${step}`).split("\n");
    expect(lines[0]).toBe("#!/bin/sh");
    expect(lines).toContain("set -eu");
    expect(lines[1]?.startsWith(`# ${step}`)).toBe(true);
    await execa("sh", ["-n", join(folder, "steps", step)]);
  }
});

test("both forges take the same way", () => {
  const github = runs.map((line) => line.replace("propose-github", "propose")).sort();
  const others = scripts.map(({ line }) => call.exec(line)?.[1]?.replace("propose-gitlab", "propose"));
  expect(new Set(others)).toEqual(new Set(github.map((line) => call.exec(line)?.[1])));
});
