/** @module-tag long */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { often } from "../support/effort.ts";
import { program, repository, temporaryFolder } from "../support/run.ts";
import { launcher, withNextPasted } from "./pasted.ts";

const readme = readFileSync(join(repository, "README.md"), "utf8");

interface Step {
  command: string;
  /** Undefined: the README does not show it. */
  output: string | undefined;
}

/** The commands of a console block with the output printed below them; `<<'END'` texts belong to the command. */
function stepsOfConsole(block: string): Step[] {
  const found: { command: string; output: string }[] = [];
  let heredoc = false;
  for (const line of block.trimEnd().split("\n")) {
    const step = found.at(-1);
    if (heredoc && step) {
      step.command += `\n${line}`;
      heredoc = line !== "END";
    } else if (line.startsWith("$ ")) {
      found.push({ command: line.slice(2), output: "" });
      heredoc = line.includes("<<'END'");
    } else if (step) step.output += `${line}\n`;
  }
  return found;
}

/** The tour from its first project to the last command before the server. */
const tour = [
  ...readme
    .slice(readme.indexOf("Start a project"), readme.indexOf("```sh\nrelcat serve"))
    .matchAll(/^```(sh|console)\n([\s\S]*?)^```$/gm),
].flatMap(([, language, block = ""]) =>
  language === "console" ? stepsOfConsole(block) : [{ command: block.trimEnd(), output: undefined }],
);

/** Sizes change with every template, and a manifest's name with its version. */
const withoutSizes = (text: string) =>
  text
    .replace(/\d+ files written/g, "… files written")
    .replace(/\d+\.\d kB in all/g, "… kB in all")
    .replace(/build-[0-9a-f]{8}/g, "build-…")
    .replace(/\b\d\d\.\d\d\.001\b/g, "YY.MM.001")
    .trimEnd();

const inTour = (home: string) => ({
  PATH: `${home}:${process.env.PATH}`,
  CI: undefined,
  GITHUB_ACTIONS: undefined,
});

/** Seconds since 1970. */
const months = { "November 2026": "1793664000", "January 2028": "1830297600" };

test.each(Object.entries(months).slice(0, often(2, 1)))(
  "the tour prints the output in the README in %s",
  async (_, now) => {
    const home = temporaryFolder();
    writeFileSync(join(home, "relcat"), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
    chmodSync(join(home, "relcat"), 0o755);
    expect(tour.length).toBeGreaterThan(4);
    const marker = "----- next step";
    const script = tour.map(({ command }) => `${command}\necho '${marker}'`).join("\n");
    const env = { ...inTour(home), SOURCE_DATE_EPOCH: now };
    // One pipe keeps the order of the output; two would not.
    const { stdout } = await execa("bash", ["-c", `exec 2>&1\n${script}`], { cwd: home, env, reject: false });
    const printed = stdout.split(`${marker}\n`);
    for (const [index, { command, output }] of tour.entries()) {
      if (output === undefined) continue;
      const shown = withoutSizes(printed[index]?.replace(marker, "") ?? "");
      expect(`$ ${command}\n${shown}`).toBe(`$ ${command}\n${withoutSizes(output)}`);
    }
    const server = execa(process.execPath, [program, "serve", "--port", "0"], {
      cwd: join(home, "demo"),
      env,
    });
    const url = await new Promise<string>((resolve, reject) => {
      server.stderr.on("data", (said: Buffer) => {
        const [found] = /http:\/\/[\w.]+:\d+/.exec(String(said)) ?? [];
        if (found !== undefined) resolve(found);
      });
      server.catch(reject);
    });
    expect(await (await fetch(url)).text()).toContain("hello_amd64.deb");
    server.kill();
    await server.catch(() => {});
  },
);

test("the next commands of the tour work when they are pasted", { tags: ["long"] }, async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "relcat"), await launcher(home));
  chmodSync(join(home, "relcat"), 0o755);
  const script = tour.map(({ command }) => command).join("\n");
  const git = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const ann = { GIT_AUTHOR_NAME: "Ann", GIT_AUTHOR_EMAIL: "ann@example.com" };
  const committer = { GIT_COMMITTER_NAME: "Ann", GIT_COMMITTER_EMAIL: "ann@example.com" };
  const { exitCode, pasted } = await withNextPasted((env) =>
    execa("bash", ["-c", script], {
      cwd: home,
      env: { ...inTour(home), ...git, ...ann, ...committer, ...env },
    }),
  );
  expect(exitCode).toBe(0);
  expect(pasted).toEqual(
    expect.arrayContaining([...readme.matchAll(/^Next: (.*)$/gm)].map(([, next]) => next)),
  );
});

test("every file that a document links to exists", () => {
  for (const file of ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"]) {
    const text = readFileSync(join(repository, file), "utf8");
    for (const [, link = ""] of text.matchAll(/\]\(([^)#:]+)\)/g))
      expect(existsSync(join(repository, link)), `${file} → ${link}`).toBe(true);
  }
});
