import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ejectTemplate, pageTemplates, replacedTemplates } from "../../pipeline/index.ts";
import { table } from "../terminal/cells.ts";
import { answer, commandContext, type Host, sayNext } from "../terminal/host.ts";
import { UsageError } from "../terminal/usage.ts";

export async function listTemplates(host: Host): Promise<void> {
  const replaced = new Set(await replacedTemplates(host.releases));
  const rows = Object.entries(pageTemplates).map(([name, { version, use }]) => ({
    name,
    version,
    replaced: replaced.has(name),
    use,
  }));
  answer<"templates-list">(host, { templates: rows }, () =>
    table(rows.map((row) => [row.name, row.replaced ? `${row.use} (replaced by the project)` : row.use])),
  );
  sayNext(host, "relcat templates eject NAME");
}

export async function showTemplate(name: string, host: Host): Promise<void> {
  const { text, version } = ownTemplate(name, host);
  if (host.json) answer<"templates-show">(host, { name, version, text }, () => "");
  else host.data.write(text);
}

export async function ejectOne(name: string, host: Host): Promise<void> {
  const { text } = ownTemplate(name, host);
  const file = await ejectTemplate(host.releases, name, text, commandContext(host));
  answer<"templates-eject">(host, { name, file }, () => `Wrote ${file}. It replaces relcat's own template.`);
  sayNext(host, "edit it, then relcat build");
}

function ownTemplate(name: string, { own }: Host): { text: string; version: number } {
  const known = Object.hasOwn(pageTemplates, name) ? pageTemplates[name] : undefined;
  if (known)
    return { text: readFileSync(join(own.folder, "templates", name), "utf8"), version: known.version };
  throw new UsageError(
    `there is no template ${JSON.stringify(name)}`,
    `There are ${Object.keys(pageTemplates).join(", ")}.`,
  );
}
