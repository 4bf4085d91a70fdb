// Search over all releases. Loads only the parts of the index that a query needs.

const results = document.querySelector(".results");
const query = (new URLSearchParams(location.search).get("q") ?? "").trim();
const words = query.toLowerCase().split(/\s+/);
/** A whole SHA-256 may be in a line, as sha256sum prints it; the beginning of one is a query of its own. */
const [, checksum] =
  /(?:^|[^0-9a-f])([0-9a-f]{64})(?![0-9a-f])/.exec(query.toLowerCase()) ??
  /^([0-9a-f]{8,63})$/.exec(query.toLowerCase()) ??
  [];

/** Files and notes that are listed at once. */
const most = 50;
/** Characters that are loaded before the visitor asks for more. */
const budget = 300_000;
let loaded = 0;

async function load(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  const text = await answer.text();
  loaded += text.length;
  return JSON.parse(text);
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

const releaseLink = (version) =>
  element("a", { href: `../releases/${version}/`, className: "version" }, version);

const fileItem = ({ version, id, name, withdrawn }) => {
  const link = element("a", { href: `../releases/${version}/#p${id}` }, element("bdi", {}, name));
  const mark = withdrawn ? [" ", element("span", { className: "tag danger" }, "withdrawn")] : [];
  return element("li", {}, link, " of ", releaseLink(version), ...mark);
};

function section(title, items) {
  if (items.length === 0) return;
  const list = element("ul", { className: "found" }, ...items.slice(0, most));
  const more = items.length - most;
  const rest = more > 0 ? [element("p", { className: "muted" }, `${more} more: add a word.`)] : [];
  results.append(element("section", {}, element("h2", {}, title), list, ...rest));
}

const message = (text, className = "lead") => results.append(element("p", { className }, text));

async function findChecksum() {
  const { files } = await load(`hash/${checksum.slice(0, results.dataset.digits) || "all"}.json`);
  const found = files
    .filter(([each]) => each.startsWith(checksum))
    .map(([, version, id, name, withdrawn]) => ({ version, id, name, withdrawn }));
  const isWhole = checksum.length === 64;
  if (found.length === 0 && isWhole)
    message(
      "No file of ours has this SHA-256: neither a released nor a withdrawn one. Do not use it.",
      "banner danger",
    );
  if (found.length > 0 && !isWhole) message("Files whose SHA-256 begins with these digits:");
  else if (found.some(({ withdrawn }) => withdrawn))
    message(
      "This file was withdrawn: do not use it. The release's page has the reason and the replacement.",
      "banner danger",
    );
  else if (found.length > 0) message("This file is ours and was not withdrawn.");
  section("Files", found.map(fileItem));
  return found.length;
}

/** Files of the index: a name and the difference of its id from the previous one. */
function* filesOf({ names, releases }) {
  let id = 0;
  for (const [version, listed, withdrawn = []] of releases) {
    for (const [packed, isWithdrawn] of [
      [listed, false],
      [withdrawn, true],
    ]) {
      for (let at = 0; at < packed.length; at += 2) {
        id += packed[at + 1];
        yield {
          version,
          id,
          name: names[packed[at]].replaceAll("\0", version),
          withdrawn: isWithdrawn,
        };
      }
    }
  }
}

const matches = (text) => words.every((word) => text.includes(word));

async function findWords() {
  const index = await load("index.json");
  const releases = index.releases.filter(([version]) => matches(version));
  const files = [...filesOf(index)].filter(({ version, name }) =>
    matches(`${name} ${version}`.toLowerCase()),
  );
  section(
    "Releases",
    releases.map(([version]) => element("li", {}, releaseLink(version))),
  );
  section("Files", files.map(fileItem));
  await findNotes(index.notes, releases.length + files.length);
}

/** Notes, newest first. */
async function findNotes(parts, before) {
  const notes = element("ul", { className: "found" });
  const button = element("button", { type: "button", hidden: true }, "Search older notes");
  const shown = element("section", { hidden: true }, element("h2", {}, "Notes"), notes);
  const state = element("p", { className: "muted" });
  results.append(shown, state, button);
  const left = [...parts];
  async function more(limit) {
    button.hidden = true;
    while (left.length > 0 && loaded < limit) {
      const { releases } = await load(`notes/${left.shift()}.json`);
      for (const [version, texts] of releases)
        for (const text of texts.filter((each) => matches(each.toLowerCase())))
          notes.append(element("li", {}, releaseLink(version), ": ", element("bdi", {}, text)));
    }
    shown.hidden = notes.childElementCount === 0;
    button.hidden = left.length === 0;
    const none = before === 0 && shown.hidden;
    state.textContent = none
      ? `Nothing was found for \u201C${query}\u201D${left.length > 0 ? " so far" : ""}.`
      : "";
  }
  button.addEventListener("click", () => run(() => more(loaded + budget)));
  await more(budget);
}

async function run(search) {
  try {
    await search();
  } catch {
    message("The search index could not be loaded. Try again later.", "banner danger");
  }
}

if (query !== "") {
  document.querySelector("input[name=q]").value = query;
  results.replaceChildren();
  run(async () => {
    if (!checksum || ((await findChecksum()) === 0 && checksum.length < 64)) await findWords();
  });
}
