// Compares two releases: their files by their documents, and the notes of all releases between them.

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

/** The files of a release; of withdrawn ones, only name and type are known. */
async function filesOf(version) {
  const { packages, artifacts, retracted } = await (
    await load(`../api/v1/release/${version}/index.json`)
  ).json();
  return [
    ...packages.map((record) => ({ ...record, ...artifacts[record.id], version })),
    ...retracted.map((record) => ({ ...record, version, isWithdrawn: true })),
  ];
}

// Numbers in names of architectures, such as win32 and i686, are not versions.
const version = /(?<!(?<![a-z])(?:win|x|x86_|i|amd|armv?|aarch|ppc|riscv|s)\d*)\d+(?:\.\d+)*/gi;

const named = ({ package_type, file }) => `${package_type} ${file.replace(version, "#")}`;

const traits = ({ package_type, arch, min_os_version, max_os_version, gui_only, headless }) =>
  JSON.stringify([package_type, arch, min_os_version, max_os_version, gui_only, headless]);

/** Pairs the files of two releases as the static pages do: by type, architecture and variant, or by name. */
function pairFiles(older, newer) {
  const [removed, added] = [new Set(older), new Set(newer)];
  const pairs = [];
  for (const keyOf of [(file) => traits(file) + named(file), named, traits]) {
    const left = new Map();
    for (const file of removed) left.set(keyOf(file), [...(left.get(keyOf(file)) ?? []), file]);
    for (const file of added) {
      const other = left.get(keyOf(file))?.shift();
      if (!other) continue;
      pairs.push([other, file]);
      removed.delete(other);
      added.delete(file);
    }
  }
  return { pairs, removed: [...removed], added: [...added] };
}

function offer(select, versions, chosen) {
  for (const version of versions) select.add(new Option(version, version));
  if (versions.includes(chosen)) select.value = chosen;
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

function sizeText(bytes) {
  let [value, unit] = [bytes, 0];
  for (; value >= (unit === 0 ? 1024 : 1023.95) && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** Link, version of the package, and size. */
function fileParts({ version, id, name, file, package_version, size, isWithdrawn }) {
  const words = element("bdi", {}, file === name ? name : `${name} (${file})`);
  const link = element("a", { href: `../releases/${version}/#p${id}` }, words);
  const about = [package_version, size == null ? undefined : sizeText(size)]
    .filter(Boolean)
    .flatMap((text, index) => [index > 0 ? ", " : "", element("bdi", {}, text)]);
  return [
    link,
    ...(about.length > 0 ? [" ", element("span", { className: "muted" }, "(", ...about, ")")] : []),
    ...(isWithdrawn ? [" ", element("span", { className: "tag danger" }, "withdrawn")] : []),
  ];
}

function showFiles(title, files, none) {
  const items = files.map((file) => element("li", {}, ...fileParts(file)));
  results.append(
    element("h3", {}, title),
    files.length > 0 ? element("ul", {}, ...items) : element("p", {}, none),
  );
}

function showPairs(pairs) {
  const items = pairs.map(([before, after]) => {
    const arrow = element("span", { ariaHidden: "true" }, "\u2190 ");
    const words = element("span", { className: "vh" }, "before: ");
    return element("li", {}, ...fileParts(after), element("br", {}), words, arrow, ...fileParts(before));
  });
  const none = element("p", {}, "No file is in both releases.");
  const list = pairs.length > 0 ? element("ul", { className: "pairs" }, ...items) : none;
  results.append(element("h3", {}, "In both releases"), list);
}

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

async function compare(versions) {
  const [older, newer] = [form.from.value, form.to.value].sort();
  if (older === newer) {
    results.append(element("p", { className: "lead" }, "Choose two different versions."));
    return;
  }
  const title = `Changes from ${older} to ${newer}`;
  document.querySelector("h1").textContent = title;
  document.title = document.title.replace(/^[^·]*/, `${title} `);
  const { pairs, added, removed } = pairFiles(...(await Promise.all([older, newer].map(filesOf))));
  results.append(element("h2", {}, "Files"));
  showFiles("New", added, "No file is new.");
  showFiles("Removed", removed, "No file was removed.");
  showPairs(pairs);
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
  const { releases } = await (await load("../search/index.json")).json();
  const versions = releases.map(([version]) => version);
  const known = (name) => (versions.includes(query.get(name)) ? query.get(name) : undefined);
  offer(form.to, versions, known("to") ?? versions[0]);
  offer(form.from, versions, known("from") ?? versions[versions.indexOf(form.to.value) + 1]);
  form.hidden = false;
  const unknown = ["from", "to"].filter((name) => query.has(name) && !known(name));
  for (const name of unknown)
    results.append(element("p", { className: "banner" }, `There is no release ${query.get(name)}.`));
  if (versions.length > 1) await compare(versions);
  else results.append(element("p", { className: "lead" }, "There are no two releases to compare."));
});
