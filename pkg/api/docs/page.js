"use strict";
for (const button of document.querySelectorAll(".copy")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  const words = button.textContent;
  button.addEventListener("click", async () => {
    const text = button.closest("figure").querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl-C";
      getSelection().selectAllChildren(button.closest("figure").querySelector("code"));
    }
    setTimeout(() => { button.textContent = words; }, 2000);
  });
}
const menu = document.querySelector(".side details");
const wide = matchMedia("(min-width: 1000px)");
const fit = () => { menu.open = wide.matches; };
fit();
wide.addEventListener("change", fit);
menu.addEventListener("click", (event) => { if (event.target.closest("a") && !wide.matches) menu.open = false; });

// Finds operations by the words of their method, path, id and summary.
const find = document.getElementById("find");
const entries = [...document.querySelectorAll(".side nav li")];
const lists = [...document.querySelectorAll(".side nav ul")];
find.parentElement.hidden = false;
find.addEventListener("input", () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length) menu.open = true; // where it is folded
  for (const entry of entries) {
    const text = `${entry.dataset.words ?? ""} ${entry.textContent}`.toLowerCase();
    entry.hidden = !words.every((word) => text.includes(word));
  }
  for (const list of lists) list.hidden = list.previousElementSibling.hidden = [...list.children].every((entry) => entry.hidden);
  const left = entries.filter((entry) => !entry.hidden).length;
  document.getElementById("found").textContent = words.length ? left === 1 ? "1 found" : `${left} found` : "";
});
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && find.value) entries.find((entry) => !entry.hidden)?.querySelector("a").click(); // which takes the focus
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && find.value) {
    find.value = "";
    find.dispatchEvent(new Event("input"));
  }
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  event.preventDefault();
  find.focus();
});
