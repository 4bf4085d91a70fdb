import { feedSlug } from "../../documents/feeds/signing.ts";

/** A name that every platform accepts for a machine or an image. */
export const instanceName = (product: string, version: string): string =>
  `${/^[a-z]/.test(feedSlug(product)) ? "" : "vm-"}${feedSlug(product)}`.slice(0, 50).replace(/-$/, "") +
  `-${version.replaceAll(".", "-")}`;
