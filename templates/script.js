// Copy buttons, and a filter over the artifacts of a list page. Pages are complete without either.

const said = document.createElement("output");
said.className = "vh";
document.body.append(said);

function addCopyButton(code) {
  const of = code.closest("tr, section")?.querySelector("bdi")?.textContent ?? "";
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", `Copy ${code.dataset.copy} of ${of}`);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = "Copied";
    said.value = `${code.dataset.copy} copied`;
    setTimeout(() => {
      button.textContent = "Copy";
      said.value = "";
    }, 2000);
  });
  code.after(button);
}

if (navigator.clipboard) document.querySelectorAll("[data-copy]").forEach(addCopyButton);

const form = document.querySelector(".filter");
if (form) {
  const rows = [...document.querySelectorAll("tr[data-type]")].map((row) => ({
    row,
    text: `${row.textContent} ${row.dataset.platform}`.toLowerCase(),
    ...row.dataset,
  }));
  const selects = [form.elements.platform, form.elements.system, form.elements.type];
  const query = new URLSearchParams(location.search);

  for (const select of selects) {
    const asked = query.get(select.name);
    const values = new Set(rows.map((row) => row[select.name]));
    // A value no row has is still shown: the page must not claim to show everything.
    if (asked) values.add(asked);
    for (const value of [...values].sort()) select.add(new Option(value, value));
    select.value = asked ?? "";
  }
  form.elements.q.value = query.get("q") ?? "";

  const apply = () => {
    const words = form.elements.q.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const { row, text, ...data } of rows) {
      const chosen = selects.every(({ name, value }) => value === "" || data[name] === value);
      row.hidden = !chosen || !words.every((word) => text.includes(word));
      if (!row.hidden) shown++;
    }
    for (const section of document.querySelectorAll("section.release")) {
      section.hidden = shown < rows.length && !section.querySelector("tr[data-type]:not([hidden])");
    }
    form.querySelector("output").value =
      shown === rows.length ? `${shown} artifacts` : `${shown} of ${rows.length} artifacts on this page`;
  };

  const remember = () => {
    const url = new URL(location.href);
    for (const { name, value } of [form.elements.q, ...selects]) {
      if (value === "") url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    history.replaceState(null, "", url);
  };

  form.addEventListener("input", () => {
    apply();
    remember();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
    remember();
  });
  apply();
}
