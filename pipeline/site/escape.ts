const control = /[^\P{Cc}\t\n]/gu;
const markup = /[&<>"']/;

/** The text with control characters replaced, so that no page, feed or terminal acts on them. */
export const visible = (text: string): string => text.replace(control, "\uFFFD");

/** The text with every line end as `\n`. */
export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, "\n");

/** Text for an HTML element or a quoted attribute. */
export const escapeHtml = (text: string): string =>
  // One mark at a time is faster than a function that is called for each; ampersands first.
  markup.test(text)
    ? text
        .replace(/&/g, "&amp;")
        .replace(/</g, "&lt;")
        .replace(/>/g, "&gt;")
        .replace(/"/g, "&quot;")
        .replace(/'/g, "&#39;")
    : text;

/** Inline text from a user: isolated, so that its direction marks cannot reorder what stands around it. */
export const bdi = (text: string): string => `<bdi>${escapeHtml(text)}</bdi>`;

/** Text for an XML 1.0 element or a quoted attribute, without the characters XML cannot carry. */
export const escapeXml = (text: string): string =>
  escapeHtml(visible(withLineFeeds(text.toWellFormed())).replace(/[\uFFFE\uFFFF]/g, "\uFFFD"));
