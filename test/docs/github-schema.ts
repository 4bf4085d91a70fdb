import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { parseAction } from "@actions/workflow-parser/actions/action-parser";
import type { NoOperationTraceWriter } from "@actions/workflow-parser/templates/trace-writer";
import type { parseWorkflow } from "@actions/workflow-parser/workflows/workflow-parser";
import { rolldown } from "rolldown";
import { repository, temporaryFolder } from "../support/run.ts";

interface Parsers {
  parseAction: typeof parseAction;
  parseWorkflow: typeof parseWorkflow;
  NoOperationTraceWriter: typeof NoOperationTraceWriter;
}

/**
 * GitHub's own parsers of actions and workflows. They are bundled, because they import JSON in a way that Node refuses.
 * @returns functions that give the messages for a file, [] if it is valid
 */
export async function githubSchema() {
  const entry = join(repository, "node_modules/@actions/workflow-parser/dist");
  const folder = temporaryFolder();
  const [source, file] = [join(folder, "parsers.js"), join(folder, "bundle.mjs")];
  writeFileSync(
    source,
    ["actions/action-parser", "workflows/workflow-parser", "templates/trace-writer"]
      .map((name) => `export * from "${entry}/${name}.js";\n`)
      .join(""),
  );
  const bundle = await rolldown({ input: source, platform: "node", logLevel: "silent" });
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  const parsers: Parsers = await import(pathToFileURL(file).href);
  const problems =
    (parse: Parsers["parseAction"] | Parsers["parseWorkflow"]) =>
    (name: string, content: string): string[] =>
      parse({ name, content }, new parsers.NoOperationTraceWriter())
        .context.errors.getErrors()
        .map(({ message }) => message);
  return { ofAction: problems(parsers.parseAction), ofWorkflow: problems(parsers.parseWorkflow) };
}
