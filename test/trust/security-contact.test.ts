import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Project, project } from "../support/project.ts";
import { relcat, temporaryFolder } from "../support/run.ts";

/** security.txt of a signed site, which is published and renewed. */

const path = ".well-known/security.txt";
const settings = (baseUrl: string) => ({
  product: "Acme",
  base_url: baseUrl,
  require: {},
  trust: "simple",
  sites: { test: { url: "dir:www", settles: false } },
  security: {
    contact: ["mailto:security@acme.example", "https://acme.example/report"],
    policy: "https://acme.example/security",
    languages: ["en", "de"],
  },
});

let made: Project;
let keys: string;

const onlineKey = () => ({ RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8") });

const run = async (...args: string[]) => {
  const { exitCode, stdout, stderr } = await relcat(made.folder, args, { env: onlineKey() });
  expect(exitCode, stderr).toBe(0);
  return `${stdout}\n${stderr}`;
};

const live = () => readFileSync(join(made.folder, "www/current", path), "utf8");
const expires = () => /^Expires: (.*)$/m.exec(live())?.[1] ?? "";
const days = (text: string, from: number) => (Date.parse(text) - from) / 86_400_000;

beforeAll(async () => {
  made = project({ "releases/catalog.yaml": settings("https://downloads.acme.example") });
  keys = temporaryFolder();
  rmSync(keys, { recursive: true });
  await made.succeed("trust", "init", keys);
});

test("it has the fields of RFC 9116, and its end is less than a year away", async () => {
  await run("build", "--released", "--site", "test");
  await run("sign", "--site", "test");
  await run("publish", "test");
  expect(live().replace(/^Expires: .*\n/m, "")).toBe(
    [
      "Contact: mailto:security@acme.example",
      "Contact: https://acme.example/report",
      "Policy: https://acme.example/security",
      "Preferred-Languages: en, de",
      `Canonical: https://downloads.acme.example/${path}`,
      "",
    ].join("\n"),
  );
  expect(expires()).toMatch(/^\d{4}-\d\d-01T00:00:00Z$/);
  expect(days(expires(), Date.now())).toBeGreaterThan(300);
  expect(days(expires(), Date.now())).toBeLessThan(365);
});

test("verify covers it", async () => {
  const root = ["--root", "releases/trust/1.root.json", "--trust-dir", temporaryFolder()];
  await run("verify", "www/current", ...root);
  const good = live();
  made.write(`www/current/${path}`, good.replace("security@", "other@"));
  const { exitCode, stderr } = await made.run("verify", "www/current", ...root);
  expect([exitCode, stderr]).toEqual([6, expect.stringContaining(path)]);
  made.write(`www/current/${path}`, good);
});

test("a refresh renews its end, once a month", async () => {
  const first = expires();
  const ahead = 35 * 86_400_000;
  const later = Date.now() + ahead;
  const options = { env: onlineKey(), ahead };
  const { exitCode, stderr } = await relcat(made.folder, ["publish", "test", "--refresh"], options);
  expect(exitCode, stderr).toBe(0);
  const second = expires();
  expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
  expect(days(second, later)).toBeLessThan(365);
  expect(days(second, later)).toBeGreaterThan(300);
});

test("build says where the file belongs if the site has a path", async () => {
  made.write("releases/catalog.yaml", settings("https://acme.example/downloads"));
  const said = `Serve https://acme.example/downloads/${path} also at https://acme.example/${path}: readers look for it there.`;
  for (const _ of ["new", "unchanged"]) expect(await run("build", "--released")).toContain(said);
});

test("an unsigned site is refused, because nothing would renew the end", async () => {
  made.write("releases/catalog.yaml", { ...settings("https://acme.example"), trust: "none" });
  const { stdout, exitCode } = await made.run("check");
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining("security: needs a signed site")]);
});
