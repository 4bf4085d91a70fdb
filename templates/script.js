// Copy buttons, the visitor's system, tabs, and a filter over the artifacts of a list page. Pages are complete without.

const said = document.createElement("output");
said.className = "vh";
document.querySelector("main").append(said);

function addCopyButton(code) {
  const of = code.closest("tr, .file, .install, .repository, section")?.querySelector("bdi")?.textContent;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${code.dataset.copy}${of ? ` of ${of}` : ""}`);
  button.addEventListener("click", async () => {
    const done = await copied(code);
    button.textContent = done ? "Copied" : "Ctrl+C";
    said.value = `${code.dataset.copy} ${done ? "copied" : "selected"}`;
    setTimeout(() => {
      button.textContent = "Copy";
      said.value = "";
    }, 2000);
  });
  code.after(button);
}

/** Selects the text where the clipboard is out of reach: without https, or without permission. */
async function copied(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
    return true;
  } catch {
    getSelection().selectAllChildren(code);
    return false;
  }
}

document.querySelectorAll("[data-copy]").forEach(addCopyButton);

/** Names that browsers give to machines, by architecture. */
const machines = { amd64: /x86_64/, arm64: /aarch64|arm_64/, armhf: /armv7/, i386: /i686|x86_32/ };

/** Shows the files for the visitor's architecture first, where the browser states it. */
async function showOwnArchitecture(group) {
  const { userAgentData, platform } = navigator;
  const hints = await userAgentData?.getHighEntropyValues(["architecture", "bitness"]);
  const machine = hints ? `${hints.architecture}_${hints.bitness}` : platform;
  const rows = [...group.querySelectorAll("tr[data-arch]")];
  const own = rows.filter(({ dataset }) => machines[dataset.arch]?.test(machine));
  group.querySelector("tbody").prepend(...own);
}

/** Shows the files for the visitor's system first. */
function showOwnSystem() {
  const groups = [...document.querySelectorAll("[data-system]:not(tr)")];
  const { userAgentData, platform, maxTouchPoints } = navigator;
  const words = `${userAgentData?.platform ?? platform}`.toLowerCase();
  const isPhone = userAgentData?.mobile || /android|iphone|ipad/i.test(navigator.userAgent);
  // iPads call themselves Macs.
  if (isPhone || (words.startsWith("mac") && maxTouchPoints > 1)) return;
  const own = groups.find(({ dataset }) => words.startsWith(dataset.system.slice(0, 3)));
  if (!own) return;
  const tag = document.createElement("span");
  tag.className = "tag";
  tag.textContent = "your system";
  own.querySelector("h2").append(" ", tag);
  own.classList.add("own");
  groups[0].before(own);
  showOwnArchitecture(own);
}

showOwnSystem();

/** Opens the details that an address names, also in browsers that do not do it by themselves. */
function openNamed() {
  const named = document.querySelector(".record:target");
  if (!named) return;
  named.parentElement.open = true;
  named.scrollIntoView();
}

addEventListener("hashchange", openNamed);
openNamed();

document.querySelectorAll("a[data-link]").forEach((link) => {
  link.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(link.href);
      said.value = "Link copied";
    } catch {
      said.value = "The address bar has the link";
    }
  });
});

/** On narrow screens, downloads and notes are shown one at a time. */
function startTabs(tabs) {
  const links = [...tabs.querySelectorAll("a")];
  const panelOf = ({ hash }) => document.getElementById(hash.slice(1)).closest("section");
  function show(chosen) {
    for (const link of links) {
      const isChosen = link === chosen;
      panelOf(link).classList.toggle("behind", !isChosen);
      if (isChosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
  const named = () => {
    const target = document.querySelector(":target");
    show(links.find((link) => target && panelOf(link).contains(target)) ?? links[0]);
  };
  addEventListener("hashchange", named);
  tabs.classList.add("on");
  document.querySelector(".split").classList.add("tabbed");
  named();
}

const tabs = document.querySelector(".page-tabs");
if (tabs) startTabs(tabs);

function startFilter(filter) {
  const text = filter.querySelector("input");
  const selects = [...filter.querySelectorAll("select")];
  const controls = [text, ...selects];
  const output = filter.querySelector("output");
  const clear = filter.querySelector("button");
  const rows = [...document.querySelectorAll("tr[data-type]")].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
    ...row.dataset,
  }));
  const sections = [...document.querySelectorAll("section.release")];
  const carriers = [...document.querySelectorAll("a[data-carry]")];

  function offer(select) {
    const values = [...new Set(rows.map((row) => row[select.name]))].sort();
    if (select.name === "version") values.reverse();
    for (const value of values) select.add(new Option(value, value));
  }

  function readAddress() {
    const query = new URLSearchParams(location.search);
    for (const control of controls) {
      const asked = query.get(control.name) ?? "";
      // A value no row has is still shown: the page must not claim to show everything.
      if (control !== text && ![...control.options].some(({ value }) => value === asked))
        control.add(new Option(asked, asked));
      control.value = asked;
    }
    apply();
  }

  function apply() {
    const words = text.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const { row, text: words_, ...data } of rows) {
      const chosen = selects.every(({ name, value }) => value === "" || data[name] === value);
      row.hidden = !chosen || !words.every((word) => words_.includes(word));
      if (!row.hidden) shown++;
    }
    const all = controls.every(({ value }) => value.trim() === "");
    for (const section of sections)
      section.hidden = !all && !section.querySelector("tr[data-type]:not([hidden])");
    output.value = all
      ? `${rows.length} artifacts`
      : `${shown || "None"} of ${rows.length} artifacts on this page`;
    clear.hidden = all;
    for (const link of carriers) link.search = query({ version: "" });
  }

  /** The controls as a query string, always in one order, behind what belongs to others. */
  function query(changes) {
    const parameters = new URLSearchParams(location.search);
    for (const { name } of controls) parameters.delete(name);
    for (const { name, value } of controls) {
      const kept = changes[name] ?? value;
      if (kept !== "") parameters.set(name, kept);
    }
    return String(parameters);
  }

  let typing = false;

  /** A step back undoes a choice, or a whole word that was typed. */
  function changed(isText) {
    apply();
    const url = new URL(location.href);
    url.search = query({});
    if (url.href === location.href) return;
    if (isText && typing) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    typing = isText;
  }

  filter.addEventListener("input", ({ target }) => changed(target === text));
  text.addEventListener("change", () => {
    typing = false;
  });
  clear.addEventListener("click", () => {
    for (const control of controls) control.value = "";
    changed(false);
    text.focus();
  });
  addEventListener("popstate", () => {
    typing = false;
    readAddress();
  });
  selects.forEach(offer);
  readAddress();
  filter.classList.add("on");
}

/** Filters the list of all releases, and opens the months in which something was found. */
function startFind(find) {
  const [input, output] = [find.querySelector("input"), find.querySelector("output")];
  const rows = [...document.querySelectorAll(".month :is(tbody tr, .chips li)")];
  const months = [...document.querySelectorAll(".month")];
  const opened = months.filter(({ open }) => open);
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const row of rows) row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
    const all = input.value.trim() === "";
    const left = rows.filter(({ hidden }) => !hidden);
    for (const month of months) {
      month.hidden = !all && !left.some((row) => month.contains(row));
      month.open = all ? opened.includes(month) : !month.hidden;
    }
    for (const year of document.querySelectorAll("section.release"))
      year.hidden = !all && !year.querySelector(".month:not([hidden])");
    output.value = all ? "" : `${left.length || "None"} of ${rows.length} releases on this page`;
  });
  find.classList.add("on");
}

const filter = document.querySelector(".filter");
if (filter?.matches(".find")) startFind(filter);
else if (filter) startFilter(filter);
