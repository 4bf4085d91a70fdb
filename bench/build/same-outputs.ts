import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import Handlebars from "handlebars";
import type { Config } from "../../pipeline/documents/config.ts";
import type { OutputFile, PublishedRelease } from "../../pipeline/documents/published.ts";
import { loadCatalog } from "../../pipeline/ledger/load-catalog.ts";
import { publishRelease } from "../../pipeline/ledger/publish-records.ts";
import { renderMarkdown } from "../../pipeline/site/markdown.ts";
import { joinedFile, textFile } from "../../pipeline/site/output.ts";
import { releaseDocument } from "../../pipeline/site/release-files.ts";
import { notesHtml } from "../../pipeline/site/release-notes.ts";
import { throwErrors } from "../../shared/errors.ts";
import { pageTemplate } from "./page.ts";

/** relcat without what its site has more than others' programs make: the catalog in $IN, the outputs in $OUT. */
const { IN = "", OUT = "" } = process.env;
const template = Handlebars.compile(pageTemplate);

const catalog = await loadCatalog(join(IN, "releases"), { released: true });
throwErrors([...catalog.problems, ...catalog.identified.notCut]);
mkdirSync(join(OUT, "releases"), { recursive: true });
// A release at a time, as the build of a whole site does it.
write(joinedFile("list.json", listed));

function* listed(): Generator<string> {
  yield "[";
  let isFirst = true;
  for (const identified of catalog.identified.releases.toReversed()) {
    const release = publishRelease(identified, catalog.ledger, catalog.config);
    const { version, packages } = release;
    write({ ...releaseDocument(release), path: `releases/${version}.json` });
    write(textFile(`releases/${version}.html`, page(release, catalog.config)));
    if (packages.length === 0) continue;
    yield (isFirst ? "" : ",") + packages.map(({ json }) => json).join(",");
    isFirst = false;
  }
  yield "]";
}

function page(release: PublishedRelease, config: Config): string {
  const { version, date, summary, packages } = release;
  return template({
    title: `${config.product} ${version}`,
    date,
    summaryHtml: renderMarkdown(summary ?? ""),
    notesHtml: notesHtml(release, config),
    packages: packages.map(({ record, url, size }) => ({
      url,
      size,
      name: record.name,
      type: record.package_type,
      checksum: record.checksum,
    })),
  });
}

function write({ path, chunks }: OutputFile): void {
  const file = openSync(join(OUT, path), "w");
  for (const chunk of chunks) writeSync(file, chunk);
  closeSync(file);
}
