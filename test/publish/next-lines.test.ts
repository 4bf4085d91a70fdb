import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { asGiven } from "../../cli/terminal/as-given.ts";
import { artifact, project, release } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

/** A signed project in a folder that is named with -C, and a site next to it. */
async function elsewhere() {
  const made = project({
    "p/releases/catalog.yaml": `require: {}
base_url: https://downloads.example.com
trust: simple
sites:
  prod: { url: "dir:../www" }
`,
    ...Object.fromEntries(
      Object.entries(release("26.09.001", [])).map(([path, content]) => [`p/${path}`, content]),
    ),
    "p/out/tool-26.09.001.rpm": "rpm",
    "p/out/tool-26.09.001.msi": "msi",
  });
  const keys = join(temporaryFolder(), "keys");
  const env = { RELCAT_ONLINE_KEY: "" };
  const run = (...args: string[]) => relcat(made.folder, args, { env });
  // catalog.yaml has trust: simple already.
  const begun = expect.stringMatching(/^Next: commit \S+, export RELCAT_ONLINE_KEY=/m);
  expect(await run("-C", "p", "trust", "init", keys)).toMatchObject({ exitCode: 0, stderr: begun });
  env.RELCAT_ONLINE_KEY = readFileSync(join(keys, "online.pem"), "utf8");
  return { ...made, run, env };
}

/** The commands of the last output. */
const nextOf = (stderr: string): string[] =>
  [...(/Next: (.*)/.exec(stderr)?.[1] ?? "").matchAll(/relcat [^,;]*?(?=, |; | \(|$)/g)].map(
    ([line]) => line,
  );

test("every Next line works when it is pasted: it repeats -C, --site and --out", {
  tags: ["long"],
}, async () => {
  const { run } = await elsewhere();
  const manifest = "releases/26.09.001/manifests/rpm.json";
  const done: string[] = [];
  const paste = async (line: string) => {
    done.push(line);
    const result = await run(...line.split(" ").slice(1));
    expect(result.exitCode, `${line}\n${result.stderr}`).toBe(0);
    return nextOf(`${result.stderr}\n${result.stdout}`);
  };
  const files = ["out/tool-26.09.001.msi", "out/tool-26.09.001.rpm"];
  const start = `relcat -C p ingest --release 26.09.001 --out ${manifest} ${files.join(" ")}`;
  const [check = ""] = await paste(start);
  await paste(check);
  const [uploaded = ""] = await paste(
    `relcat -C p upload --site prod --manifest ${manifest} ${files.join(" ")}`,
  );
  await paste(uploaded);
  const [cut = ""] = await paste("relcat -C p status");
  const [build = ""] = await paste(cut);
  expect(build).toBe("relcat -C p build --released");
  const [sign = ""] = await paste("relcat -C p build --released --site prod --out public");
  const [publish = ""] = await paste(sign);
  const [verify] = await paste(publish);
  expect(done.slice(1)).toEqual([
    "relcat -C p check",
    `relcat -C p upload --site prod --manifest ${manifest} ${files.join(" ")}`,
    "relcat -C p check",
    "relcat -C p status",
    "relcat -C p cut 26.09.001",
    "relcat -C p build --released --site prod --out public",
    "relcat -C p sign --site prod --out public",
    "relcat -C p publish --out public prod",
  ]);
  expect(verify).toBe("relcat -C p verify prod");
  expect((await run("-C", "p", "status")).stdout).toContain(
    "\nNext: nothing to do\n  every ledger line is published",
  );
  expect((await run("-C", "p", "retract", "1", "--reason", "Bad.", "--yes")).exitCode).toBe(0);
  for (const line of nextOf((await run("-C", "p", "status")).stdout)
    .join(" ")
    .split(" && "))
    await paste(line);
  expect(done.slice(-3)).toEqual([
    "relcat -C p build --released --site prod",
    "relcat -C p sign --site prod",
    "relcat -C p publish prod",
  ]);
});

test("hints repeat -C, --site and --out, in the order in which the commands are needed", async () => {
  const { run, write, folder } = await elsewhere();
  write("p/releases/26.09.001/manifests/a.json", {
    release: "26.09.001",
    artifacts: [artifact("tool-26.09.001.rpm", "rpm")],
  });
  await run("-C", "p", "cut", "--all");
  await run("-C", "p", "build", "--released", "--site", "prod", "--out", "public");
  const { stderr } = await run("-C", "p", "publish", "prod", "--out", "public");
  expect(stderr).toContain(
    "hint: Sign it, continuing from the published metadata: relcat -C p sign --out public --site prod",
  );
  // The path of a manifest names the same file.
  const absolute = join(folder, "p/releases/26.09.001/manifests/b.json");
  const more = ["--release", "26.09.001", "--add-to-cut", "--out", absolute, "out"];
  const ingested = await run("-C", "p", "ingest", ...more);
  expect(ingested.stderr).toContain("Next: relcat -C p check");
  const path = join(folder, "p/out/tool-26.09.001.rpm");
  const uploaded = await run("-C", "p", "upload", "--site", "prod", "--manifest", absolute, path);
  expect([uploaded.exitCode, uploaded.stderr]).toEqual([
    0,
    expect.stringMatching(/\nNext: relcat -C p check$/),
  ]);
});

test("findings of check, plan and notes lint, and warnings, repeat -C", async () => {
  const { run, write } = await elsewhere();
  const version = "26.09.001";
  const manifest = (digit: string) =>
    write(`p/releases/${version}/manifests/a.json`, {
      release: version,
      artifacts: [artifact("tool-26.09.001.rpm", "rpm", digit)],
    });
  manifest("1");
  await run("-C", "p", "cut", "--all");
  manifest("2");
  const way = "or, while no one else has them, take the cut back (relcat -C p uncut 26.09.001)";
  const said = async (...words: string[]) => (await run("-C", "p", ...words)).stdout;
  expect(await said("check")).toContain(way);
  expect(await said("check", "--json")).toContain(way);
  expect(await said("check", "--format", "github")).toContain(way);
  expect(await said("check", "--format", "sarif")).toContain(way);
  expect(await said("plan")).toContain(way);
  expect(await said("plan", "--format", "markdown")).toContain(way);
  // The plan document is the same in every folder.
  expect(await said("plan", "--json")).toContain(way.replace(" -C p", ""));
  expect(await said("status", "--offline")).toContain("1 error: relcat -C p check shows it");
});

test.each([
  [
    "relcat check, then relcat cut 26.09.001",
    { folder: "a b" },
    "relcat -C 'a b' check, then relcat -C 'a b' cut 26.09.001",
  ],
  ["relcat -C demo check", { folder: "x" }, "relcat -C x/demo check"],
  [
    "relcat build --released, then relcat sign",
    { site: "prod", out: "earlier" },
    "relcat build --site prod --out earlier --released, then relcat sign --site prod --out earlier",
  ],
  [
    "relcat build --at 1 --site prod --out earlier",
    { site: "prod", out: "dist" },
    "relcat build --at 1 --site prod --out earlier",
  ],
  ["what relcat writes, as relcat does", { folder: "p" }, "what relcat writes, as relcat does"],
])("%j is repeated with %j", (text, given, expected) => {
  expect(asGiven(text, given)).toBe(expected);
});
