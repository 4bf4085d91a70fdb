import { escapeHtml } from "./escape.ts";

/** Addresses by prefix: `refs:` of catalog.yaml. */
export type References = ReadonlyMap<string, string>;

/** Replaces whole words such as NW-123, outside of addresses, by links. All other text goes through `plain`. */
export function withReferences(
  text: string,
  refs: References,
  plain: (text: string) => string,
  link: (text: string, href: string) => string,
): string {
  if (refs.size === 0) return plain(text);
  const words = String.raw`(?:${[...refs.keys()].join("|")})\d+(?:-\d+)*(?![\p{L}\p{N}_]|-[\p{L}\p{N}])`;
  const parts = text.split(new RegExp(String.raw`(?<![\p{L}\p{N}_-]|:\/\/\S*)(${words})`, "u"));
  return parts.map((part, at) => (at % 2 === 0 ? plain(part) : link(part, addressOf(part, refs)))).join("");
}

function addressOf(ref: string, refs: References): string {
  const [prefix = "", address = ""] = [...refs].find(([each]) => ref.startsWith(each)) ?? [];
  const number = encodeURIComponent(ref.slice(prefix.length));
  return address.replaceAll("{ref}", encodeURIComponent(ref)).replaceAll("{number}", number);
}

const linkOf = (ref: string, href: string) => `<a href="${escapeHtml(href)}">${escapeHtml(ref)}</a>`;

export const referencesHtml = (text: string, refs: References): string =>
  withReferences(text, refs, escapeHtml, linkOf);
