import { isBuiltin } from "node:module";
import { join } from "node:path";
import { type Plugin, rolldown } from "rolldown";

/** Loaded by few commands: from node_modules as they are, the native ones and those that look for others at run time. */
const apart = /^(@aws-sdk\/|@napi-rs\/|openpgp$|pg$)/;

/** Programs of other threads, by the name of their file beside the chunks; who starts one finds it there. */
const threads: Readonly<Record<string, string>> = {
  "compress-thread": join(import.meta.dirname, "../pipeline/journal/compress-thread.ts"),
  "hash-thread": join(import.meta.dirname, "../pipeline/system/hash-thread.ts"),
  "read-thread": join(import.meta.dirname, "../pipeline/records/read-thread.ts"),
};

const builtinImport = /^import (?:([\w$]+|\* as [\w$]+)(?:, | ))?(?:\{([^}]*)\} )?from "([\w:/]+)";$/gm;

/**
 * Node's own modules without their ES faces: to make one, Node reads every export, and the lazy ones among them load
 * what nobody asked for. That was a quarter of the start.
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

/**
 * Makes the command line one program with its libraries, a chunk for each part that is loaded on demand: what looks up
 * 800 modules takes four times as long to start.
 * @param into folder for `main.js` and its chunks
 * @param main the program, when it is not the command line
 */
export async function bundle(into: string, main = join(import.meta.dirname, "main.ts")): Promise<void> {
  const program = await rolldown({
    input: { main, ...threads },
    platform: "node",
    // As CommonJS jsonc-parser looks for its parts in a way that no bundler sees.
    resolve: { mainFields: ["module", "main"] },
    external: apart,
    plugins: [builtins],
  });
  await program.write({ dir: into, format: "esm", chunkFileNames: "[name]-[hash].js" });
  await program.close();
}

if (import.meta.main) await bundle(join(import.meta.dirname, "../build/program"));
