import { z } from "zod";
import { date, version } from "../../../../shared/fields.ts";
import { artifact, withdrawn } from "./file-models.ts";
import { layout } from "./layout-model.ts";
import { count, flag, href, html, text } from "./model-fields.ts";

export const release = z.strictObject({
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
  /** Page of the changes since the previous release. */
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

export const listedRelease = z.strictObject({
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
export const changedFile = z.strictObject({ name: text, href, about: z.array(text), withdrawn: flag });
