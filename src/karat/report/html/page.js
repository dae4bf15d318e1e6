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
