// The picker of a period, and the menus of filters, close as people expect of what lies over a page: by Escape, and by a press beside it.
const open = ".period details[open], .filters details[open]";

/** startFolds closes what is open. */
export function startFolds(): void {
  document.addEventListener("keydown", (e) => {
    const picker = document.querySelector<HTMLDetailsElement>(open);
    if (e.key !== "Escape" || e.defaultPrevented || !picker) return;
    picker.open = false;
    picker.querySelector("summary")?.focus();
    e.preventDefault();
  });
  document.addEventListener("pointerdown", (e) => {
    const picker = document.querySelector<HTMLDetailsElement>(open);
    if (picker && !picker.contains(e.target as Node)) picker.open = false;
  });
}
