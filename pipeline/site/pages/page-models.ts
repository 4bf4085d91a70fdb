import { z } from "zod";
import { date, line, packageType, version } from "../../../shared/fields.ts";
import { artifact, repository, row, withdrawn } from "./models/file-models.ts";
import { layout } from "./models/layout-model.ts";
import { count, flag, href, html, link, text } from "./models/model-fields.ts";

const release = z.strictObject({
  layout,
  version,
  date,
  /** Day of the last correction of the published notes; null: there was none. */
  corrected: date.nullable(),
  /** Until when it is supported; empty: nothing is stated. */
  support: text,
  /** Its channels; `halted`: the reason, or empty. */
  channels: z.array(z.strictObject({ name: text, href, halted: text })),
  /** True if the project has channels, and none of them has it. */
  isInNoChannel: flag,
  provisional: flag,
  summaryHtml: html,
  notesHtml: html,
  changes: href,
  count,
  unit: text,
  /** How much of the release was withdrawn; empty if nothing was. */
  withdrawal: text,
  /** True if no file is left. */
  isGone: flag,
  withdrawn: z.array(withdrawn),
  groups: z.array(
    z.strictObject({
      anchor: text,
      name: text,
      /** `anchor` is empty on all files of a platform but the first. */
      files: z.array(z.strictObject({ anchor: text, artifact })),
    }),
  ),
  files: z.array(z.strictObject({ href, text })),
  /** Address of the release's folder if the page verifies all files together; otherwise empty. */
  together: text,
  /** null: nothing is signed. Words are quoted for a shell. */
  evidence: z
    .strictObject({
      version,
      /** SHA-256 of the root that clients pin. */
      root: text,
      signer: text,
      namespace: text,
      /** Addresses of the site and of the release's folder. */
      site: text,
      release: text,
      files: z.array(z.strictObject({ href, text })),
    })
    .nullable(),
});

const listedRelease = z.strictObject({
  version,
  date,
  href,
  count,
  withdrawn: count,
  provisional: flag,
  summaryHtml: html,
  /** True if its first artifacts are on another page. */
  continued: flag,
  rowsHtml: html,
});

/** A file of one of two releases. `about`: the version of its package, and its size. */
const changedFile = z.strictObject({ name: text, href, about: z.array(text), withdrawn: flag });

/** A page is rendered only with a matching model. */
export const pageModels = {
  release,
  row: z.strictObject({ artifact: row }),
  home: z.strictObject({
    layout,
    /** `support`: until when the newest release is supported; empty: nothing is stated. */
    newest: z.strictObject({ version, date, href, support: text }).nullable(),
    /** The newest files by system. */
    groups: z.array(
      z.strictObject({
        anchor: text,
        name: text,
        /** Visitors with this operating system see the group first; empty: no visitor does. */
        system: text,
        platforms: z.array(link),
        rowsHtml: html,
        /** Those that list these files. */
        repositories: z.array(repository),
      }),
    ),
    /** Pages of channels; empty: the project has none. */
    channels: z.array(link),
    months: z.array(link),
    all: href,
    compare: href,
  }),
  month: z.strictObject({
    layout,
    month: line,
    releases: z.array(listedRelease),
    /** Older parts of the month, on the page of its newest part. */
    parts: z.array(link),
    /** Page of the newest part, on all other parts; otherwise empty. */
    newest: href,
    home: href,
    all: href,
  }),
  releases: z.strictObject({
    layout,
    total: count,
    unit: text,
    changes: href,
    search: href,
    years: z.array(
      z.strictObject({
        year: text,
        count,
        unit: text,
        months: z.array(
          z.strictObject({
            month: text,
            count,
            unit: text,
            /** Page with the files of the month. */
            href,
            open: flag,
            /** The newest releases, with all that is known. */
            releases: z.array(listedRelease.omit({ continued: true, rowsHtml: true }).extend({ unit: text })),
            versions: z.array(z.strictObject({ version, href, withdrawn: count, provisional: flag })),
          }),
        ),
      }),
    ),
  }),
  changes: z.strictObject({
    layout,
    version,
    date,
    href,
    provisional: flag,
    /** null: it is the first release. */
    previous: z.strictObject({ version, href, changes: href }).nullable(),
    added: z.array(changedFile),
    removed: z.array(changedFile),
    /** Number of files that both releases have. */
    same: count,
    kept: z.array(z.strictObject({ before: changedFile, after: changedFile })),
    /** Number of them that are not in `kept`, because the page would be too large. */
    more: count,
    unit: text,
    summaryHtml: html,
    notesHtml: html,
    compare: href,
  }),
  compare: z.strictObject({ layout, all: href }),
  reference: z.strictObject({
    layout,
    description: text,
    browse: href,
    openapi: href,
    operations: z.array(
      z.strictObject({
        anchor: text,
        method: text,
        path: text,
        summary: text,
        description: text,
        curl: text,
        /** Link that sends the request; empty if it needs input. */
        example: href,
        parameters: z.array(
          z.strictObject({
            place: text,
            name: text,
            description: text,
            required: flag,
            values: z.array(text),
          }),
        ),
        /** document: name of the one that is answered; empty if `documents` lacks it. */
        answers: z.array(z.strictObject({ status: text, description: text, document: text })),
      }),
    ),
    /** Answers with their fields. The page of a catalog has none, because its schemas are files. */
    documents: z.array(
      z.strictObject({
        name: text,
        description: text,
        fields: z.array(
          z.strictObject({ name: text, type: text, document: text, required: flag, description: text }),
        ),
      }),
    ),
  }),
  channel: z.strictObject({
    layout,
    name: text,
    isDefault: flag,
    json: href,
    /** The newest release that is offered. */
    newest: z.strictObject({ version, date, href }).nullable(),
    repositories: z.array(repository),
    releases: z.array(
      z.strictObject({
        version,
        date,
        href,
        /** Day of the promotion; empty: from before the first one. */
        promoted: text,
        /** Reason; empty: it is offered. */
        halted: text,
      }),
    ),
    /** Number of older releases that are not listed. */
    more: count,
    all: href,
  }),
  feeds: z.strictObject({
    layout,
    atom: href,
    json: href,
    repositories: z.array(repository),
    /** Certificates that sign the repositories; empty if nothing is signed. */
    keys: href,
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
        /** Until when the release is supported; empty: nothing is stated. */
        support: text,
        href,
        rowsHtml: html,
        repositories: z.array(repository),
        /** Number of artifacts that only the release's page shows. */
        more: count,
      }),
    ),
  }),
  api: z.strictObject({
    layout,
    root: href,
    list: href,
    /** The displayed month or part of it; empty without releases. */
    month: text,
    /** False for the list's first page, which also answers queries and therefore names no month. */
    older: flag,
    requestPath: text,
    json: href,
    api: href,
    recordsHtml: html,
    months: z.array(link),
  }),
  search: z.strictObject({
    layout,
    all: href,
    /** Number of digits by which the index splits checksums. */
    digits: text,
  }),
  "not-found": z.strictObject({ layout, home: href, all: href, platforms: href }),
} as const;

export type PageName = keyof typeof pageModels;
export type PageModel<Name extends PageName> = z.infer<(typeof pageModels)[Name]>;
