// Copy buttons, and a filter over the artifacts of a list page. Pages are complete without either.

const said = document.createElement("output");
said.className = "vh";
document.querySelector("main").append(said);

function addCopyButton(code) {
  const of = code.closest("tr, section")?.querySelector("bdi")?.textContent ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${code.dataset.copy} of ${of}`);
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

/** Rows have the same commands, whose words nobody looks for. */
const wordsOf = (row) =>
  [...row.querySelectorAll("details")].reduce(
    (text, { textContent }) => text.replace(textContent, () => ""),
    row.textContent,
  );

function startFilter(filter) {
  const text = filter.querySelector("input");
  const selects = [...filter.querySelectorAll("select")];
  const controls = [text, ...selects];
  const output = filter.querySelector("output");
  const clear = filter.querySelector("button");
  const rows = [...document.querySelectorAll("tr[data-type]")].map((row) => ({
    row,
    text: wordsOf(row).toLowerCase(),
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

const filter = document.querySelector(".filter");
if (filter) startFilter(filter);
