// A form with a file: the file can be dropped onto it, and people see how much of it was sent. Without scripts the browser sends the form.
import { adopt } from "./style.ts";

const css = `.drop{padding:var(--s16);border:1px dashed var(--edge);border-radius:var(--radius)}.drop.over{border-color:var(--accent);background:var(--raised)}
.sent{display:grid;gap:var(--s4);margin-bottom:var(--s16)}.sent progress{width:100%;accent-color:var(--accent)}`;

/** start adds the drop zone and the progress to a form, and returns what ends that. */
export function start(root: HTMLElement): () => void {
  const form = root as HTMLFormElement;
  const file = form.querySelector<HTMLInputElement>("input[type=file]");
  const zone = file?.closest<HTMLElement>(".field");
  if (!file || !zone) return () => {};
  adopt(css);
  zone.classList.add("drop");
  const hint = document.createElement("span");
  hint.className = "hint";
  hint.textContent = form.dataset.drop ?? "";
  file.after(hint);
  const end = new AbortController();
  const { signal } = end;
  // A file that misses the zone would be opened by the browser, in the place of the form.
  addEventListener("dragover", (e) => {
    e.preventDefault();
    zone.classList.toggle("over", zone.contains(e.target as Node));
  }, { signal });
  addEventListener("drop", (e) => {
    e.preventDefault();
    zone.classList.remove("over");
    const dropped = e.dataTransfer?.files[0];
    if (!dropped || !zone.contains(e.target as Node) || file.disabled) return;
    const list = new DataTransfer();
    list.items.add(dropped);
    file.files = list.files;
    file.dispatchEvent(new Event("input", { bubbles: true }));
  }, { signal });
  // After the listener of the document, which asks for the session first.
  addEventListener("submit", (e) => {
    if (e.target !== form || e.defaultPrevented) return;
    e.preventDefault();
    send(form, file);
  }, { signal });
  return () => end.abort();
}

/** send sends the form, and shows the screen that the server answers with. */
function send(form: HTMLFormElement, file: HTMLInputElement): void {
  form.querySelector(".lost")?.remove();
  const button = form.querySelector<HTMLButtonElement>("button:not([type=button])");
  const line = document.createElement("p");
  line.className = "sent";
  const words = document.createElement("span");
  words.setAttribute("role", "status");
  words.textContent = form.dataset.sending ?? "";
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", words.textContent);
  bar.value = 0;
  line.append(words, bar);
  (button?.closest(".acts") ?? button)?.before(line);
  const request = new XMLHttpRequest(); // fetch does not tell how much it has sent
  request.open("POST", form.action);
  request.setRequestHeader("Accept", "text/html");
  const body = new FormData(form);
  if (button) button.disabled = true;
  request.upload.onprogress = (e) => {
    if (e.lengthComputable) bar.value = e.loaded / e.total;
  };
  request.upload.onload = () => {
    bar.removeAttribute("value");
    words.textContent = form.dataset.reading ?? "";
  };
  const failed = () => {
    line.remove();
    if (button) button.disabled = false;
    const note = document.createElement("p");
    note.className = "note bad lost";
    note.setAttribute("role", "alert");
    note.textContent = form.dataset.failed ?? "";
    form.prepend(note);
    file.dispatchEvent(new Event("input", { bubbles: true })); // the form has input that was not sent
  };
  request.onerror = failed;
  request.onload = () => {
    if (request.status < 400) {
      location.assign(request.responseURL);
      return;
    }
    // Styles are of this page already, and its policy does not take those of another.
    const page = new DOMParser().parseFromString(request.responseText.replace(/<style[^]*?<\/style>/g, ""), "text/html");
    const next = page.getElementById("content");
    if (!next?.querySelector("form")) {
      failed();
      return;
    }
    document.getElementById("content")?.replaceWith(document.adoptNode(next));
    document.dispatchEvent(new Event("drawn"));
    document.querySelector<HTMLElement>("#content [aria-invalid]")?.focus();
  };
  request.send(body);
}
