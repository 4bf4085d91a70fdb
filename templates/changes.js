// Compares two releases: their files by the search index, and the notes of all releases between them.

const form = document.querySelector(".compare");
const results = document.querySelector(".results");
const query = new URLSearchParams(location.search);

/** Releases whose notes are loaded at once. */
const most = 10;

async function load(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer;
}

function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Files by the name of the file without the version: names repeat from release to release. */
function filesByVersion({ names, releases }) {
  let id = 0;
  return new Map(
    releases.map(([version, listed, withdrawn = []]) => {
      const files = new Map();
      for (const [packed, isWithdrawn] of [
        [listed, false],
        [withdrawn, true],
      ]) {
        for (let at = 0; at < packed.length; at += 2) {
          id += packed[at + 1];
          // A record whose name is not that of its file has both.
          const [record, file] = [names[packed[at]]].flat();
          const name = (file ? `${record} (${file})` : record).replaceAll("\0", version);
          files.set(file ?? record, { version, id, name, isWithdrawn });
        }
      }
      return [version, files];
    }),
  );
}

function offer(select, versions, chosen) {
  for (const version of versions) select.add(new Option(version, version));
  if (versions.includes(chosen)) select.value = chosen;
}

const fileItem = ({ version, id, name, isWithdrawn }) => {
  const link = element("a", { href: `../releases/${version}/#p${id}` }, element("bdi", {}, name));
  const mark = isWithdrawn ? [" ", element("span", { className: "tag danger" }, "withdrawn")] : [];
  return element("li", {}, link, ...mark);
};

function showFiles(title, files, none) {
  const list = files.length > 0 ? element("ul", {}, ...files.map(fileItem)) : element("p", {}, none);
  results.append(element("h3", {}, title), list);
}

const missingIn = (known, files) =>
  [...files].filter(([pattern]) => !known.has(pattern)).map(([, file]) => file);

/** Notes of a release, as its own page of changes has them. */
async function notesOf(version) {
  const answer = await load(`${version}/`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [, ...notes] = page.querySelector("[aria-labelledby=notes]").children;
  for (const link of notes.flatMap((each) => [...each.querySelectorAll("a")]))
    link.href = new URL(link.getAttribute("href"), answer.url);
  const title = element("a", { href: `../releases/${version}/`, className: "version" }, version);
  return element("section", {}, element("h2", {}, "Release notes of ", title), ...notes);
}

async function showNotes(versions) {
  const left = [...versions];
  const button = element("button", { type: "button", hidden: true }, "Show older notes");
  results.append(button);
  async function more() {
    button.hidden = true;
    button.before(...(await Promise.all(left.splice(0, most).map(notesOf))));
    button.hidden = left.length === 0;
  }
  button.addEventListener("click", () => run(more));
  await more();
}

async function compare(versions, files) {
  const [older, newer] = [form.from.value, form.to.value].sort();
  if (older === newer) {
    results.append(element("p", { className: "lead" }, "Choose two different versions."));
    return;
  }
  const title = `Changes from ${older} to ${newer}`;
  document.querySelector("h1").textContent = title;
  document.title = document.title.replace(/^[^·]*/, `${title} `);
  const [before, after] = [files.get(older), files.get(newer)];
  results.append(element("h2", {}, "Files"));
  showFiles("New", missingIn(before, after), "No file is new.");
  showFiles("Removed", missingIn(after, before), "No file was removed.");
  await showNotes(versions.filter((version) => version > older && version <= newer));
}

async function run(work) {
  try {
    await work();
  } catch {
    const text = "The releases could not be loaded. Try again later.";
    results.append(element("p", { className: "banner danger" }, text));
  }
}

run(async () => {
  const files = filesByVersion(await (await load("../search/index.json")).json());
  const versions = [...files.keys()];
  const known = (name) => (versions.includes(query.get(name)) ? query.get(name) : undefined);
  offer(form.to, versions, known("to") ?? versions[0]);
  offer(form.from, versions, known("from") ?? versions[versions.indexOf(form.to.value) + 1]);
  form.hidden = false;
  const unknown = ["from", "to"].filter((name) => query.has(name) && !known(name));
  for (const name of unknown)
    results.append(element("p", { className: "banner" }, `There is no release ${query.get(name)}.`));
  if (versions.length > 1) await compare(versions, files);
  else results.append(element("p", { className: "lead" }, "There are no two releases to compare."));
});
