import { z } from "zod";
import { checksum, date, id, line, packageType, version } from "../../documents/fields.ts";

const text = z.string();
const flag = z.boolean();
const count = z.int().min(0);

/** HTML that is safe as it stands: made by a template or by the Markdown renderer. Names end in Html. */
const html = z.string();

/** Relative, or http(s): nothing else may become a link, whatever a manifest says. */
const href = z.string().regex(/^(?:https?:\/\/[^\s/\\]\S*|(?!\/\/)(?![^/?#]*:)[^\s\\]*)$/i);

const layout = z.strictObject({
  title: text,
  product: text,
  /** Has a filter, which the address may set: nothing is shown before it is applied, so nothing moves. */
  filtered: flag,
  /** Where a redirecting page leads at once; empty on all others. */
  refresh: href,
  home: href,
  style: href,
  script: href,
  icon: href,
  atom: href,
  jsonFeed: href,
  packages: href,
  latest: href,
  releaseIndex: href,
  openapi: href,
  nav: z.array(z.strictObject({ href, text, current: flag })),
  /** Versions on this page that are not permanent yet. */
  provisional: z.array(version),
});

const moment = z.strictObject({ datetime: text, date: text, text });

const command = z.strictObject({ system: text, start: text, file: text, end: text });

/** Something said about an artifact: what, and of whom or which; no value where nothing is known. */
const statement = z.strictObject({ words: text, value: text, isHash: flag });

const artifact = z.strictObject({
  id,
  name: text,
  version,
  description: text,
  type: text,
  platform: text,
  operatingSystem: text,
  /** What it is for, in few words: platform, system and variant, none repeated. */
  facts: z.array(text),
  /** The operating system and its bounds, for people. */
  system: text,
  /** What the package contains of the whole; empty when it is not split. */
  variant: text,
  /** For people; empty when it is not known. */
  size: text,
  bytes: text,
  created: moment,
  /** null when nothing changed since. */
  modified: moment.nullable(),
  checksum,
  /** Who signed it and what it was built from, in a sentence or two. */
  origin: z.array(statement),
  /** The same in full. */
  provenance: z.array(statement),
  url: href,
  /** Its section on the release's page. */
  page: href,
  commands: z.array(command),
});

const withdrawn = z.strictObject({
  id,
  name: text,
  type: text,
  reason: text,
  checksum,
  at: moment,
  /** null when nothing replaces it. */
  replacement: z.strictObject({ version, name: text, href }).nullable(),
});

const release = z.strictObject({
  layout,
  version,
  date,
  provisional: flag,
  summaryHtml: html,
  notesHtml: html,
  count,
  unit: text,
  withdrawn: z.array(withdrawn),
  platforms: z.array(z.strictObject({ anchor: text, name: text, artifacts: z.array(artifact) })),
  files: z.array(z.strictObject({ href, text })),
});

const listedRelease = z.strictObject({
  version,
  date,
  href,
  count,
  withdrawn: count,
  provisional: flag,
  summaryHtml: html,
  /** Its first artifacts stand on another page. */
  continued: flag,
  rowsHtml: html,
});

const link = z.strictObject({ href, text });

/** What each template of a page is given. A page is rendered only with a model that fits. */
export const pageModels = {
  release,
  row: z.strictObject({ artifact }),
  home: z.strictObject({
    layout,
    newest: z.strictObject({ version, date, href }).nullable(),
    platforms: z.array(link),
    releases: z.array(listedRelease),
    months: z.array(link),
    all: href,
  }),
  month: z.strictObject({
    layout,
    month: line,
    releases: z.array(listedRelease),
    /** The older parts of the month, on the page of its newest part. */
    parts: z.array(link),
    /** The page of its newest part, on all others; else empty. */
    newest: href,
    home: href,
    all: href,
  }),
  releases: z.strictObject({
    layout,
    releases: z.array(listedRelease.omit({ continued: true, rowsHtml: true }).extend({ unit: text })),
  }),
  latest: z.strictObject({ layout, newest: z.strictObject({ version, href }).nullable(), all: href }),
  platforms: z.strictObject({
    layout,
    platforms: z.array(
      z.strictObject({ href, name: text, newest: version.nullable(), types: z.array(packageType) }),
    ),
  }),
  platform: z.strictObject({
    layout,
    name: text,
    types: z.array(
      z.strictObject({
        type: packageType,
        description: text,
        version,
        date,
        provisional: flag,
        href,
        rowsHtml: html,
        /** Artifacts that only the release's page has. */
        more: count,
      }),
    ),
  }),
  api: z.strictObject({
    layout,
    root: href,
    list: href,
    /** The month, or the part of it, whose records are shown; empty without releases. */
    month: text,
    /** Not the list's own page, which answers other questions too: that names no month in its breadcrumb. */
    older: flag,
    requestPath: text,
    json: href,
    api: href,
    recordsHtml: html,
    months: z.array(link),
  }),
  "not-found": z.strictObject({ layout, home: href, all: href, platforms: href }),
} as const;

export type PageName = keyof typeof pageModels;
export type PageModel<Name extends PageName> = z.infer<(typeof pageModels)[Name]>;
export type ArtifactView = z.infer<typeof artifact>;
export type WithdrawnView = z.infer<typeof withdrawn>;
export type LayoutView = z.infer<typeof layout>;
