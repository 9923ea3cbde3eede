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
