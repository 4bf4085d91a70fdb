const control = /[^\P{Cc}\t\n]/gu;
const markup = /[&<>"']/;

/** Replaces control characters, so that no page, feed or terminal interprets them. */
export const visible = (text: string): string => text.replace(control, "\uFFFD");

export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, "\n");

/** Text for an HTML element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  // One replacement per character is faster than a callback; ampersands come first.
  markup.test(text) ? escapeText(text).replace(/"/g, "&quot;").replace(/'/g, "&#39;") : text;

/** Text for an HTML element, where quotes need no entities. */
export const escapeText = (text: string): string =>
  text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

/** Inline user text, isolated so that its direction marks cannot reorder the text around it. */
export const bdi = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

/** The text with replacements for the characters that XML 1.0 forbids. */
export const withoutForbidden = (text: string): string =>
  visible(withLineFeeds(text.toWellFormed())).replace(/[\uFFFE\uFFFF]/g, "\uFFFD");

/** Text for an XML 1.0 element or quoted attribute, without characters that XML forbids. */
export const escapeXml = (text: string): string => escapeHtml(withoutForbidden(text));
