/** Writes man/relcat.1 from the table of commands: npm run man. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { currentManPage } from "./table.ts";

const folder = join(import.meta.dirname, "../../man");
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "relcat.1"), currentManPage());
