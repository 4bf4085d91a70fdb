// Appended to the functions at the beginning of templates/search.js: search over the pages of the documentation.

const matches = (text) => words.every((word) => text.includes(word));

/** Some words around the first match. */
function excerpt(text) {
  const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 180)}${text.length > at + 180 ? "…" : ""}`;
}

async function findPages() {
  const { pages } = await load("index.json");
  const all = pages.flatMap(([path, title, sections]) =>
    sections.map(([anchor, heading, text]) => ({ path, title, anchor, heading, text })),
  );
  const inHeading = all.filter(({ title, heading }) => matches(`${title} ${heading}`.toLowerCase()));
  const inText = all.filter(
    (each) =>
      !inHeading.includes(each) && matches(`${each.title} ${each.heading} ${each.text}`.toLowerCase()),
  );
  const item = ({ path, title, anchor, heading, text }) =>
    element(
      "li",
      {},
      element("a", { href: `../${path}#${anchor}` }, title === heading ? title : `${title}: ${heading}`),
      element("br", {}),
      excerpt(text),
    );
  section("Headings", inHeading.map(item));
  section("Text", inText.map(item));
  if (inHeading.length + inText.length === 0) message(`Nothing was found for “${query}”.`);
}

if (query !== "") {
  document.querySelector("input[name=q]").value = query;
  results.replaceChildren();
  findPages().catch(() => message("The search index could not be loaded. Try again later.", "banner danger"));
}
