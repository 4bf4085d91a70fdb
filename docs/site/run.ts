import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { documentationSite } from "./render.ts";

/** `npm run docs`: writes the documentation as a static site. */
const repository = resolve(import.meta.dirname, "../..");
const folder = join(repository, "build/docs");

const files = await documentationSite(repository);
rmSync(folder, { recursive: true, force: true });
for (const { path, bytes } of files) {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}
process.stdout.write(
  `Wrote ${files.length} files into build/docs/. To view them: python3 -m http.server --bind 127.0.0.1 --directory build/docs\n`,
);
