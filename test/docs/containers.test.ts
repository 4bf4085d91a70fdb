import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../support/run.ts";

const folder = join(repository, "docs/containers");

/** Instructions of Docker's reference that these files may use; ADD fetches from URLs and unpacks archives. */
const known = new Set(["FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "ENTRYPOINT"]);

interface Instruction {
  name: string;
  text: string;
}

/** @throws if a line is not an instruction that these files may use */
function instructions(text: string): Instruction[] {
  return text
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [, name = "", rest = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      if (!known.has(name)) throw new Error(`not allowed: ${line}`);
      return { name, text: rest };
    });
}

/** Problems of a Dockerfile, [] if it is good. */
function faultsOf(text: string): string[] {
  const all = instructions(text);
  const last = all.findLastIndex(({ name }) => name === "FROM");
  const stages = new Set<string | undefined>();
  const faults: string[] = [];
  for (const { name, text } of all) {
    if (name === "FROM") {
      if (!/^(scratch|\S+:\S+@sha256:[0-9a-f]{64})( AS \S+)?$/.test(text)) faults.push(`no digest: ${text}`);
      stages.add(/ AS (\S+)$/.exec(text)?.[1]);
    }
    if (name === "COPY" && text.includes("--from=") && !stages.has(/--from=(\S+)/.exec(text)?.[1]))
      faults.push(`no such stage: ${text}`);
    if (name === "RUN" && text.includes("apt-get install")) {
      if (!text.startsWith("apt-get update ")) faults.push("old package lists");
      if (!text.includes("--no-install-recommends")) faults.push("recommended packages");
      if (!text.includes("rm -rf /var/lib/apt/lists/*")) faults.push("package lists stay in the image");
    }
    if (name === "RUN" && /\b(curl|wget|npm install|npm i)\b/.test(text)) faults.push(`not pinned: ${text}`);
    if (name === "ENV" && /KEY|TOKEN|SECRET|PASSWORD/i.test(text)) faults.push(`a secret: ${text}`);
    if (name === "WORKDIR" && !text.startsWith("/")) faults.push(`relative: ${text}`);
    if (name === "ENTRYPOINT" && !Array.isArray(JSON.parse(text))) faults.push("not a list of words");
  }
  const user = all.slice(last).findLast(({ name }) => name === "USER")?.text;
  if (!text.includes("FROM scratch") && (user === undefined || /^(root|0)\b/.test(user)))
    faults.push("runs as root");
  return faults;
}

const dockerfile = readFileSync(join(folder, "Dockerfile"), "utf8");

test("the Dockerfile pins its base images by digest, keeps no package lists, and does not run as root", () => {
  expect(faultsOf(dockerfile)).toEqual([]);
  expect(faultsOf(readFileSync(join(folder, "scratch.Containerfile"), "utf8"))).toEqual([]);
});

test.each([
  ["a base image without a digest", /@sha256:\w+$/m, "", "no digest: node:26.7.0-bookworm-slim"],
  ["package lists in the image", "&& rm -rf /var/lib/apt/lists/*", "", "package lists stay in the image"],
  ["an install that the lockfile does not pin", "npm ci", "npm install", /^not pinned: npm install/],
  ["a user with all rights", "USER node", "USER root", "runs as root"],
  ["a stage that does not exist", "--from=installed", "--from=other", /^no such stage/],
])("the check detects %s", (_, from, to, fault) => {
  const match = typeof fault === "string" ? fault : expect.stringMatching(fault);
  expect(faultsOf(dockerfile.replace(from, to))).toEqual([match]);
});

test("an instruction that fetches from a URL is refused", () => {
  expect(() => instructions("FROM scratch\nADD https://example.com/a /a\n")).toThrow("not allowed: ADD");
});

test("the page links only to existing files, and says that the Dockerfile was not built", () => {
  const page = readFileSync(join(repository, "docs/containers.md"), "utf8");
  for (const [, link = ""] of page.matchAll(/\]\(([^)#:]+)\)/g))
    expect(existsSync(join(repository, "docs", link)), link).toBe(true);
  expect(page).toContain("**This Dockerfile was not built here.**");
});
