import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { configSchema } from "../../pipeline/documents/config.ts";
import { readSettings } from "../../pipeline/project/settings.ts";
import { defaultPackageTypes, defaultPlatforms } from "../../shared/package-types.ts";
import { repository } from "../support/run.ts";
import { defaults, examples } from "./config-examples.ts";
import { type ConfigKey, keysOf } from "./config-keys.ts";

const intro = `# Configuration

\`releases/catalog.yaml\` configures a project. Every section may be left out, and so may the file: each key has a default.

- \`relcat check\` reports unknown keys and wrong values with their line, and says how to fix them.
- In an editor, the first line that \`relcat init\` writes gives completion and checks. \`relcat schema catalog\` prints the JSON Schema behind it.
- \`NAME\` in a key is a name that you choose. \`[]\` means each entry of a list.
- Paths start at the project's folder, unless the table says otherwise.
- Put versions and months in quotes: YAML reads \`22.10\` as the number 22.1.
`;

const sections = Object.entries(configSchema.shape).map(
  ([name, schema]) => [name, keysOf(name, schema, false)] as const,
);

const withoutDefault = (text: string) => text.replace(/[;,.] ?default: .*$/i, ".").replace(/([^.])$/, "$1.");

function defaultOf({ path, description, isRequired }: ConfigKey): string {
  if (isRequired) return "required";
  const value = defaults[path];
  if (value !== undefined) return `\`${value}\``;
  return /default: (.*?)\.?$/.exec(description)?.[1] ?? "none";
}

const cell = (text: string) => text.replaceAll("|", "\\|");

const row = (key: ConfigKey) =>
  `| \`${key.path}\` | ${cell(key.type)} | ${cell(defaultOf(key))} | ${cell(withoutDefault(key.description))} |`;

function sectionOf([name, keys]: (typeof sections)[number]): string {
  const [own] = keys;
  const listed = keys.length > 1 && defaults[name] === undefined ? keys.slice(1) : keys;
  const about = keys.length > 1 ? `${withoutDefault(own?.description ?? "")}\n\n` : "";
  return `## ${name}
${about}| key | value | default | meaning |
|---|---|---|---|
${listed.map(row).join("\n")}

\`\`\`yaml
${examples[name]}\`\`\`
`;
}

const tables = `## Built-in package types
Rows of \`package_types\` change these or add others.

| package type | operating system | platform | kind | description |
|---|---|---|---|---|
${Object.entries(defaultPackageTypes)
  .map(
    ([type, row]) =>
      `| \`${type}\` | ${row.operating_system} | ${row.platform} (${defaultPlatforms[row.platform]}) | ${row.kind} | ${row.description} |`,
  )
  .join("\n")}
`;

test("docs/configuration.md lists every key with its default and an example", async () => {
  const text = [intro, ...sections.map(sectionOf), tables].join("\n");
  await expect(text).toMatchFileSnapshot(join(repository, "docs/configuration.md"));
});

const configOf = (document: unknown) => {
  const { config, problems } = readSettings("releases", new TextEncoder().encode(stringify(document)));
  return { config, problems: problems.map(({ message }) => message) };
};

const exampleOf = (section: string) => parse(examples[section] ?? "");

test.each(sections)("the example of %s is valid and has every key", (section, keys) => {
  expect(configOf(exampleOf(section)).problems).toEqual([]);
  const used = pathsIn(exampleOf(section)[section], section, new Set(keys.map(({ path }) => path)));
  // Alternatives of which an example can show only one.
  const others = /^trust\.(online|openpgp\.key|packslip)\./;
  expect(keys.filter(({ path }) => !used.has(path) && !others.test(path)).map(({ path }) => path)).toEqual(
    [],
  );
});

/** Paths of all keys of a value, with the reference's names for those that authors choose. */
function pathsIn(value: unknown, path: string, known: ReadonlySet<string>): Set<string> {
  const isName = [...known].some((other) => other.startsWith(`${path}.NAME`));
  const inside = Array.isArray(value)
    ? value.map((each) => [`${path}[]`, each] as const)
    : Object.entries(value !== null && typeof value === "object" ? value : {}).map(
        ([key, each]) => [`${path}.${isName ? "NAME" : key}`, each] as const,
      );
  return new Set([path, ...inside.flatMap(([below, each]) => [...pathsIn(each, below, known)])]);
}

/** A copy of a section's example in which the key at `path` has another value, or none. */
function exampleWith(path: string, value?: string): unknown {
  const [section = ""] = path.split(".");
  const document = exampleOf(section);
  const keys = path.split(".");
  let holder = document;
  for (const key of keys.slice(0, -1)) {
    const name = key === "NAME" ? (Object.keys(holder)[0] ?? "") : key;
    holder[name] ??= {};
    holder = holder[name];
  }
  const last = keys.at(-1) ?? "";
  if (value === undefined) delete holder[last];
  else holder[last] = parse(value);
  return document;
}

test.each(Object.keys(defaults))("leaving out %s means its default", (path) => {
  const known = sections.flatMap(([, keys]) => keys.map((key) => key.path));
  expect(known).toContain(path);
  const written = configOf(exampleWith(path, defaults[path]));
  expect(written.problems).toEqual([]);
  expect(configOf(exampleWith(path))).toEqual(written);
});
