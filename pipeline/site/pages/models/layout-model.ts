import { z } from "zod";
import { version } from "../../../../shared/fields.ts";
import { contact, count, flag, href, text } from "./model-fields.ts";

export const layout = z.strictObject({
  title: text,
  product: text,
  /** Empty texts are left out. */
  brand: z.strictObject({
    name: text,
    /** Size in pixels. */
    logo: z.strictObject({ href, width: count, height: count }).nullable(),
    home: href,
    homeHost: text,
    support: contact,
    footer: text,
  }),
  description: text,
  /** The page's whole address. */
  address: href,
  /** True if the address may set filters: content is hidden until they are applied, so that the layout does not jump. */
  filtered: flag,
  /** Target of a redirecting page; empty on all others. */
  refresh: href,
  home: href,
  style: href,
  script: href,
  /** Script of this page alone; empty on most. */
  pageScript: href,
  search: href,
  policy: text,
  icon: href,
  iconType: text,
  atom: href,
  jsonFeed: href,
  packages: href,
  latest: href,
  releaseIndex: href,
  openapi: href,
  nav: z.array(z.strictObject({ href, text, current: flag })),
  provisional: z.array(version),
});

export type LayoutView = z.infer<typeof layout>;
