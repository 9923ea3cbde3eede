// The preview of a landing page follows the form beside it. The server draws the page from what is typed, and stores nothing of it.

const pause = 400; // ms after the last change

/** start follows the form, and returns what ends that. */
export function start(root: HTMLElement): () => void {
  const form = root.querySelector<HTMLFormElement>("form#edit");
  const frame = root.querySelector("iframe");
  if (!form || !frame) return () => {};
  const saved = new URL(frame.src);
  const end = new AbortController();
  let due: ReturnType<typeof setTimeout> | undefined;
  const follow = () => {
    clearTimeout(due);
    due = setTimeout(() => {
      const to = new URL(saved);
      for (const field of form.elements) {
        if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement)) continue;
        if (field.type === "hidden" || field.name === "" || field.name.startsWith("gate.")) continue; // no passcode in an address
        const ticked = field instanceof HTMLInputElement && field.type === "checkbox";
        to.searchParams.append(field.name, ticked ? String(field.checked) : field.value.slice(0, 1200)); // an address has bounds
      }
      frame.contentWindow?.location.replace(to.href); // no step in the browser's history
    }, pause);
  };
  form.addEventListener("input", follow, { signal: end.signal });
  if (form.querySelector("[aria-invalid]")) follow(); // what was typed has been refused
  return () => {
    end.abort();
    clearTimeout(due);
  };
}
