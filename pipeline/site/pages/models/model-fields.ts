import { z } from "zod";

export const text = z.string();
export const flag = z.boolean();
export const count = z.int().min(0);

/** Safe HTML from a template or the Markdown renderer. Such names end in Html. */
export const html = z.string();

/** Relative or http(s); no other scheme from a manifest may become a link. */
export const href = z.string().regex(/^(?:https?:\/\/[^\s/\\]\S*|(?!\/\/)(?![^/?#]*:)[^\s\\]*)$/i);

/** Where customers get help: a page, or an address of mail. */
export const contact = z.string().regex(/^(?:https?:\/\/|mailto:)[^\s/\\]\S*$|^$/);

export const moment = z.strictObject({ datetime: text, date: text, text });

export const link = z.strictObject({ href, text });
