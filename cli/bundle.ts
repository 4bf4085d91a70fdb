import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";
import { compiledModule } from "../pipeline/site/pages/templates.ts";
import { readTemplates } from "../pipeline/site/stores/templates.ts";

/** Not bundled, because few commands need them, and some are native or resolve modules at run time. */
const apart = /^(@aws-sdk\/|@napi-rs\/|openpgp$|pg$)/;

const builtinImport = /^import (?:([\w$]+|\* as [\w$]+)(?:, | ))?(?:\{([^}]*)\} )?from "([\w:/]+)";$/gm;

/**
 * Loads Node's built-in modules as CommonJS: their ES form evaluates every export, including lazy ones, which
 * took a quarter of the start-up time.
 */
const builtins: Plugin = {
  name: "builtins",
  renderChunk: (code) =>
    code.replace(builtinImport, (statement, whole?: string, names?: string, id = "") => {
      if (!isBuiltin(id)) return statement;
      const module = `globalThis.process.getBuiltinModule(${JSON.stringify(id)})`;
      return [
        ...(whole ? [`const ${whole.replace("* as ", "")} = ${module};`] : []),
        ...(names ? [`const {${names.replaceAll(" as ", ": ")}} = ${module};`] : []),
      ].join(" ");
    }),
};

/** Compiles relcat's own templates, which takes a seventh of the time to build a small site. Tests use it too. */
export const templates: Plugin = {
  name: "templates",
  load: async (id) =>
    /[\\/]bundled-templates\.ts$/.test(id) ? compiledModule(await readTemplates()) : undefined,
};

/**
 * Bundles the command line with its libraries, one chunk for each lazily loaded part: resolving 800 modules
 * makes start-up four times as slow. The modules that every command loads are in few chunks.
 * @param into folder for `main.js` and its chunks
 * @param main another entry point
 */
export async function bundle(into: string, main = join(import.meta.dirname, "main.ts")): Promise<void> {
  const program = await rolldown({
    input: { main },
    platform: "node",
    // The CommonJS version of jsonc-parser resolves its parts in a way that bundlers do not see.
    resolve: { mainFields: ["module", "main"] },
    external: apart,
    // Otherwise every command would load the whole library, which it imports from pipeline/index.ts.
    // Libraries state in their package.json which of their modules have effects.
    treeshake: { moduleSideEffects: (id) => (id.includes("node_modules") ? undefined : false) },
    plugins: [builtins, templates],
  });
  await program.write({
    dir: into,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: {
      groups: [
        { name: "start", tags: ["$initial"] },
        { name: "unchanged-build", test: /[\\/]cli[\\/]catalog[\\/]unchanged-build\.ts$/ },
        { name: "commands", test: /[\\/]cli[\\/]commands\.ts$/ },
      ],
    },
  });
  await program.close();
}

if (import.meta.main) await bundle(join(import.meta.dirname, "../build/program"));
