for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  const key = (row, i) => row.cells[i].querySelector("data")?.value ?? row.cells[i].textContent;
  const order = (a, b, i) => {
    const x = key(a, i), y = key(b, i);
    return i ? (y === "" ? 0 : +y) - (x === "" ? 0 : +x) : x.localeCompare(y, undefined, {numeric: true});
  };
  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const back = head.getAttribute("aria-sort") === (i ? "descending" : "ascending");
      heads.forEach(h => h.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", !i === back ? "descending" : "ascending");
      body.append(...[...body.rows].sort((a, b) => back ? order(b, a, i) : order(a, b, i)));
    });
  });
}
const unfold = () => document.getElementById(location.hash.slice(1))?.closest("details")?.setAttribute("open", "");
addEventListener("hashchange", unfold);
unfold();
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => d.open = true));
for (const table of document.querySelectorAll("table.texts")) {
  const rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells].map(h => h.textContent);
  if (rows.length < 6) continue;
  const bar = document.createElement("div"), shown = document.createElement("output"), asked = [];
  const field = (name, made) => {
    const label = document.createElement("label");
    label.append(name + " ", made);
    made.setAttribute("aria-label", name);
    bar.append(label);
    made.addEventListener("input", filter);
  };
  const filter = () => {
    for (const row of rows) row.hidden = !asked.every(fits => fits(row));
    shown.textContent = `${rows.filter(r => !r.hidden).length} of ${rows.length} shown`;
  };
  const search = document.createElement("input");
  search.type = "search";
  field("Search", search);
  asked.push(row => row.textContent.toLowerCase().includes(search.value.toLowerCase()));
  heads.forEach((head, i) => {
    const values = [...new Set(rows.map(row => row.cells[i].textContent))].sort();
    if (!["gold", "predicted", "test case"].includes(head) || values.length < 2 || values.length > 60) return;
    const select = document.createElement("select");
    select.append(new Option("any", ""), ...values.map(v => new Option(v, v)));
    field(head, select);
    asked.push(row => !select.selectedIndex || row.cells[i].textContent === select.value);
  });
  bar.className = "search";
  bar.append(shown);
  table.parentElement.before(bar);
  filter();
}
