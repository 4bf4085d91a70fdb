import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { pageTemplates } from "../../pipeline/documents/pages/page-templates.ts";
import { linkBackgrounds } from "../../pipeline/project/pages/contrast.ts";
import { initAlone } from "../support/project.ts";
import { relcat, repository, spawnRelcat, temporaryFolder } from "../support/run.ts";

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 90 30"><rect width="90" height="30"/></svg>';

/** The first bytes of a PNG file with 2 × 1 pixels; only they are read. */
const png = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d4948445200000002000000010802000000", "hex"),
  deflateSync(Buffer.alloc(7)),
]);

function write(folder: string, path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}

async function project(files: Record<string, string> = {}): Promise<string> {
  const folder = temporaryFolder();
  await relcat(folder, [...initAlone, "."]);
  for (const [path, text] of Object.entries(files)) write(folder, `releases/${path}`, text);
  return folder;
}

const built = async (folder: string) => {
  const { exitCode, stderr } = await relcat(folder, ["build", "--quiet"]);
  expect(exitCode, stderr).toBe(0);
  return (path: string) => readFileSync(join(folder, "dist", path), "utf8");
};

function brand(folder: string, lines: string[]): void {
  const file = join(folder, "releases/catalog.yaml");
  writeFileSync(
    file,
    `${readFileSync(file, "utf8")}\nbrand:\n${lines.map((line) => `  ${line}\n`).join("")}`,
  );
}

test("name, logo, links and footer of the brand are on pages, and text is escaped", async () => {
  const folder = await project({ "brand/logo.svg": logo });
  brand(folder, [
    'name: "Acme <Downloads>"',
    "logo: brand/logo.svg",
    "favicon: brand/logo.svg",
    "home: https://www.acme.example/start",
    "support: mailto:help@acme.example",
    'footer: "© Acme & Sons"',
  ]);
  const read = await built(folder);
  const home = read("index.html");
  const picture = /<img src="(assets\/logo\.[0-9a-f]{8}\.svg)" alt="" width="96" height="32">/.exec(
    home,
  )?.[1];
  expect(read(picture ?? "")).toBe(logo);
  expect(home).toContain("<bdi>Acme &lt;Downloads&gt;</bdi>");
  expect(home).toMatch(/<link rel="icon" href="assets\/favicon\.[0-9a-f]{8}\.svg" type="image\/svg\+xml">/);
  expect(home).toContain('<a href="https://www.acme.example/start">www.acme.example</a>');
  expect(home).toContain('<a href="mailto:help@acme.example">Support</a>');
  expect(home).toContain("<p>© Acme &amp; Sons</p>");
  expect(read("releases/index.html")).toContain(`<img src="../${picture}"`);
});

test("check locates everything in a drawing that runs or loads something, and says how to clean it", async () => {
  const folder = await project({
    "brand/logo.svg": logo.replace(
      "<rect",
      '\n<s:script xmlns:s="http://www.w3.org/2000/svg"/>\n  <rect onclick="x()"',
    ),
    "brand/icon.svg": "<svg/>",
  });
  brand(folder, ["logo: brand/logo.svg", "favicon: brand/icon.svg"]);
  const { stdout, exitCode } = await relcat(folder, ["check", "--json"]);
  expect(exitCode).toBe(1);
  const problems = JSON.parse(stdout).problems.filter(
    ({ severity }: { severity: string }) => severity === "error",
  );
  const expected = "expected only shapes, text and styles that load nothing";
  const hint =
    "Remove it, or export the drawing again: Inkscape as Plain SVG, Illustrator with Export As. Turn texts in special fonts into paths.";
  const common = { code: "config-brand", file: "releases/brand/logo.svg", hint };
  expect(problems).toMatchObject([
    {
      code: "config-brand",
      file: "releases/brand/icon.svg",
      line: 1,
      column: 1,
      message: 'the drawing has the root element <svg>, expected <svg xmlns="http://www.w3.org/2000/svg">',
      hint: "Correct the file, or export the drawing again as SVG.",
    },
    { ...common, line: 2, column: 1, message: `the drawing has <s:script>, ${expected}` },
    {
      ...common,
      line: 3,
      column: 3,
      message: `the drawing has the attribute onclick in <rect>, ${expected}`,
    },
  ]);
});

test("a PNG picture keeps its ratio", async () => {
  const folder = await project();
  write(folder, "releases/brand/logo.png", png);
  brand(folder, ["logo: brand/logo.png"]);
  const read = await built(folder);
  expect(read("index.html")).toMatch(
    /<img src="assets\/logo\.[0-9a-f]{8}\.png" alt="" width="64" height="32">/,
  );
});

test("the accent color is in the style sheet, with a lighter one for dark pages", async () => {
  const folder = await project();
  brand(folder, ['accent: "#7A1FA2"']);
  const read = await built(folder);
  const style = /href="(assets\/style\.[0-9a-f]{8}\.css)"/.exec(read("index.html"))?.[1] ?? "";
  const rules = read(style).split("@media screen").slice(-2).join("");
  expect(rules).toContain("--link: #7a1fa2;");
  expect(rules).toMatch(/dark\) \{\s*:root \{\s*--link: #(?!7a1fa2)[0-9a-f]{6};/);
  expect(read("index.html")).not.toMatch(/<style|style=/);
});

test("the contrast of the accent is checked against the backgrounds of the style sheet", () => {
  const style = readFileSync(join(repository, "templates/style.css"), "utf8");
  const values = (name: string) =>
    [...style.matchAll(new RegExp(`^ +--${name}: (#[0-9a-f]+);`, "gm"))]
      .slice(0, 2)
      .map(([, color = ""]) => (color.length === 4 ? color.replace(/[0-9a-f]/g, "$&$&") : color));
  expect([values("back"), values("panel")]).toEqual(
    [0, 1].map((index) => [linkBackgrounds.light[index], linkBackgrounds.dark[index]]),
  );
});

test("a change of a picture or a template is built, although no release changed", async () => {
  const folder = await project({ "brand/logo.svg": logo });
  brand(folder, ["logo: brand/logo.svg"]);
  const before = (await built(folder))("index.html");
  write(folder, "releases/brand/logo.svg", logo.replace("rect ", 'rect rx="2" '));
  const after = (await built(folder))("index.html");
  expect(after).not.toBe(before);
  await relcat(folder, ["templates", "eject", "home.hbs"]);
  const home = join(folder, "releases/templates/home.hbs");
  writeFileSync(home, readFileSync(home, "utf8").replace("</h1>", "</h1>\n<p>Our own words</p>"));
  expect((await built(folder))("index.html")).toBe(after.replace("</h1>", "</h1>\n<p>Our own words</p>"));
});

test("relcat's own templates are in the program as code, and only those of a project are compiled", async () => {
  const folder = await project();
  const withoutEval = { nodeArgs: ["--disallow-code-generation-from-strings"] };
  const own = await spawnRelcat(folder, ["build", "--quiet"], withoutEval);
  expect(own.exitCode, own.stderr).toBe(0);
  await relcat(folder, ["templates", "eject", "home.hbs"]);
  const changed = await spawnRelcat(folder, ["build", "--quiet"], withoutEval);
  expect(changed.stderr).toContain("Code generation from strings disallowed for this context");
});

test("a project with a copy of every template builds the same bytes", async () => {
  const folder = await project();
  const all = () =>
    readdirSync(join(folder, "dist"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [file, readFileSync(file).toString("base64")]);
  await built(folder);
  const before = all();
  for (const name of Object.keys(pageTemplates)) await relcat(folder, ["templates", "eject", name]);
  await built(folder);
  expect(all()).toEqual(before);
});

test("templates lists, prints and copies relcat's templates", async () => {
  const own = readdirSync(join(repository, "templates"), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "favicon.svg")
    .map(({ name }) => name);
  expect(Object.keys(pageTemplates)).toEqual(own.sort());
  const folder = await project();
  const ejected = await relcat(folder, ["templates", "eject", "home.hbs", "--json"]);
  expect(JSON.parse(ejected.stdout)).toEqual({
    schema_version: 1,
    name: "home.hbs",
    file: "releases/templates/home.hbs",
  });
  const text = readFileSync(join(repository, "templates/home.hbs"), "utf8");
  expect(readFileSync(join(folder, "releases/templates/home.hbs"), "utf8")).toBe(
    `{{! relcat-template: home.hbs 2 }}\n${text}`,
  );
  expect((await relcat(folder, ["templates", "show", "home.hbs"])).stdout.trim()).toBe(text.trim());
  const { templates } = JSON.parse((await relcat(folder, ["templates", "list", "--json"])).stdout);
  expect(templates).toHaveLength(own.length);
  expect(templates.filter(({ replaced }: { replaced: boolean }) => replaced)).toEqual([
    { name: "home.hbs", version: 2, replaced: true, use: "the first page, with the newest files" },
  ]);
  const again = await relcat(folder, ["templates", "eject", "home.hbs"]);
  expect([again.exitCode, again.stderr]).toEqual([
    2,
    "error[file-exists] releases/templates/home.hbs exists already\n  hint: Nothing was written. Edit that file, or move it away first.",
  ]);
  const unknown = await relcat(folder, ["templates", "show", "hom.hbs"]);
  expect([unknown.exitCode, unknown.stderr]).toEqual([
    2,
    `error[usage] there is no template "hom.hbs"\n  hint: There are ${own.sort().join(", ")}.`,
  ]);
});

const head = (name: string) => `{{! relcat-template: ${name} ${pageTemplates[name]?.version} }}\n`;

test.each([
  ["home.hbs", "<h1>", "1:1", "the first line does not say which version of home.hbs it replaces"],
  ["hom.hbs", "", "1:1", 'relcat has no template "hom.hbs"'],
  [
    "month.hbs",
    "{{! relcat-template: month.hbs 2 }}\n",
    "1:1",
    "written for version 2 of month.hbs, expected 1",
  ],
  [
    "changes.hbs",
    "{{! relcat-template: changes.hbs 1 }}\n",
    "1:1",
    "written for version 1 of changes.hbs, expected 2",
  ],
  ["month.hbs", `${head("month.hbs")}<p>{{#if month}}`, "2:1", "the template cannot be read: Expecting"],
  ["month.hbs", `${head("month.hbs")}<p>{{#if month}}{{/each}}`, "2:7", "if doesn't match each"],
  [
    "home.hbs",
    `${head("home.hbs")}<p>{{{layout.product}}}</p>`,
    "2:4",
    "layout.product is written without escaping",
  ],
  [
    "home.hbs",
    `${head("home.hbs")}<p>{{&layout.product}}</p>`,
    "2:4",
    "layout.product is written without escaping",
  ],
  ["home.hbs", `${head("home.hbs")}<a href={{all}}>`, "2:1", "an attribute's value has no quotes"],
  ["home.hbs", `${head("home.hbs")}\n<b title="x" onclick="y()">`, "3:1", "scripts in a page are forbidden"],
  ["home.hbs", `${head("home.hbs")}<script>1</script>`, "2:1", "scripts in a page are forbidden"],
  ["home.hbs", `${head("home.hbs")}<p style="color: red">`, "2:1", "styles in a page are forbidden"],
  [
    "home.hbs",
    `${head("home.hbs")}<img src="//cdn.example/x.png">`,
    "2:1",
    "pages load nothing from other hosts",
  ],
  ["home.hbs", `${head("home.hbs")}{{> nowhere}}`, "2:1", "there is no partial nowhere"],
  ["home.hbs", `${head("home.hbs")}{{shout newest}}`, "2:1", "the helper shout is not known"],
  ["layout.hbs", `${head("layout.hbs")}<p>`, "1:1", "the layout has no Content-Security-Policy"],
])("check locates the fault of %s: %j", async (name, text, place, message) => {
  const folder = await project({ [`templates/${name}`]: text });
  const { stdout, exitCode } = await relcat(folder, ["check", "--json"]);
  const problems = JSON.parse(stdout).problems.filter(({ code }: { code: string }) => code === "template");
  expect(exitCode).toBe(1);
  expect(problems).toHaveLength(1);
  const [{ file, line, column, message: found }] = problems;
  expect(`${file}:${line}:${column}`).toBe(`releases/templates/${name}:${place}`);
  expect(found).toContain(message);
});

test("a value that a page does not have is located in the template that uses it, and nothing is built", async () => {
  const folder = await project({
    "templates/home.hbs": `${head("home.hbs")}{{#> layout}}\n<h1>{{layout.nothing}}</h1>\n{{/layout}}\n`,
  });
  const { stderr, exitCode } = await relcat(folder, ["build"]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'releases/templates/home.hbs:3:7 error[template] the page has no value "nothing" here',
  );
  expect(readdirSync(folder)).not.toContain("dist");
});
