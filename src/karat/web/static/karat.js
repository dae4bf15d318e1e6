for (const drop of document.querySelectorAll(".drop")) {
  const input = drop.querySelector("input[type=file]");
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, event => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name === "drop" && event.dataTransfer.files.length) input.files = event.dataTransfer.files;
    });
  }
}
for (const select of document.querySelectorAll("select[data-go]")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
for (const form of document.querySelectorAll("form[data-sure]")) {
  form.addEventListener("submit", event => { if (!confirm(form.dataset.sure)) event.preventDefault(); });
}
