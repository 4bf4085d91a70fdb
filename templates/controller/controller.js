// Relative times, choosing many rows, and filtering those of this page. Pages are complete without them.

function startChoosing(form) {
  const boxes = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const output = form.querySelector(".bar output");
  const all = document.createElement("input");
  all.type = "checkbox";
  const label = document.createElement("label");
  const text = document.createElement("span");
  text.className = "narrow";
  text.textContent = "All on this page";
  label.append(all, text);
  form.querySelector("thead .check").append(label);
  const offered = () => boxes.filter(({ disabled }) => !disabled);
  let last;

  function tell() {
    const chosen = offered().filter(({ checked }) => checked).length;
    all.checked = chosen > 0 && chosen === offered().length;
    all.indeterminate = chosen > 0 && !all.checked;
    output.value = chosen === 0 ? "None chosen" : `${chosen} chosen`;
    form.classList.toggle("some", chosen > 0);
  }

  all.addEventListener("change", () => {
    for (const box of offered()) box.checked = all.checked;
    tell();
  });
  form.addEventListener("click", ({ target, shiftKey }) => {
    if (!boxes.includes(target)) return;
    if (shiftKey && last) {
      const [from, to] = [boxes.indexOf(last), boxes.indexOf(target)].sort((a, b) => a - b);
      for (const box of boxes.slice(from, to + 1)) if (!box.disabled) box.checked = target.checked;
    }
    last = target;
    tell();
  });
  form.addEventListener("rows", tell);
  // Going back in the browser brings the ticks back after this has run.
  addEventListener("pageshow", tell);
  tell();
}

/** What is not shown is not sent either: nobody decides on rows they cannot see. */
function startRowFilter(field) {
  const rows = [...document.querySelectorAll(".rows tbody tr")].map((row) => ({
    row,
    text: row.textContent.toLowerCase(),
  }));
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const { row, text } of rows) {
      row.hidden = !words.every((word) => text.includes(word));
      for (const box of row.querySelectorAll("input")) box.disabled = row.hidden;
    }
    document.querySelector("[data-choose]")?.dispatchEvent(new Event("rows"));
  });
}

/** The exact time stays in the title. */
for (const time of document.querySelectorAll("time[data-ago]")) time.textContent = time.dataset.ago;

document.querySelectorAll("[data-choose]").forEach(startChoosing);
document.querySelectorAll("[data-filter]").forEach(startRowFilter);
