import { type Affected, affectedBy, loadCatalog } from "../../pipeline/index.ts";
import { throwErrors } from "../../shared/errors.ts";
import { table } from "../terminal/cells.ts";
import { type Host, print, printDocument } from "../terminal/host.ts";
import { codeCell } from "../terminal/markdown.ts";
import { count } from "../terminal/words.ts";

export async function affected(
  asked: string,
  { format }: { format: "text" | "json" | "markdown" },
  host: Host,
): Promise<void> {
  const catalog = await loadCatalog(host.releases);
  throwErrors(catalog.problems);
  const found = affectedBy(asked, catalog);
  if (host.json) printDocument<"affected">(host, { asked, ...found });
  else if (format === "markdown") host.data.write(markdownOf(asked, found));
  else print(host, textOf(found));
}

function textOf(found: Affected): string {
  const { files } = found;
  const rows = files.map(({ id, version, file, sha256, published, withdrawn }) => [
    ...[String(id), version, file, sha256, published],
    withdrawn ? "withdrawn" : "offered",
  ]);
  const facts = factsOf(found).map(([name, value]) => `${name}: ${value}`);
  if (rows.length === 0) return facts.join("\n");
  return [...facts, table([["ID", "VERSION", "FILE", "SHA-256", "PUBLISHED", "STATE"], ...rows])].join("\n");
}

/** A report that can be attached to a message. User text has no effect in it. */
function markdownOf(asked: string, found: Affected): string {
  const facts = factsOf(found).map(([name, value]) => `- ${name}: ${codeCell(value)}`);
  const rows = found.files.map(({ version, file, sha256, published, withdrawn }) =>
    [version, file, sha256, published, withdrawn?.reason ?? ""].map((cell) =>
      cell === "" ? "" : codeCell(cell),
    ),
  );
  const head = ["version", "file", "SHA-256", "published", "withdrawn because"];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return `# ${codeCell(asked)}\n\n${facts.join("\n")}\n${rows.length === 0 ? "" : `\n${lines.join("\n")}\n`}`;
}

function factsOf({
  fixes,
  versions,
  files,
  first,
  last,
  instead,
}: Affected): [name: string, value: string][] {
  return [
    ...fixes.map(({ id, severity, cve, version }): [string, string] => {
      const names = [...(id === null ? [] : [id]), ...cve].join(", ");
      return [`Fixed in ${version}`, severity === null ? names : `${names}, severity ${severity}`];
    }),
    ["Affected releases", versions.length === 0 ? "none" : versions.join(", ")],
    ["Affected files", count(files.length, "file")],
    ...(first === null || last === null
      ? []
      : ([["Published", `${first} to ${last}`]] as [string, string][])),
    ["Use instead", instead.length === 0 ? "no release yet" : instead.join(", ")],
  ];
}
