
// Each example is in the page as a command of curl. The other languages are written from its parts, and the form that sends it.
const root = new URL("../..", location.href).href.replace(/\/$/, "");
const parts = (figure) => {
  const text = (name) => figure.querySelector(`code .${name}`)?.textContent;
  const json = text("json")?.replaceAll("'\\''", "'");
  return { method: figure.dataset.method, path: text("path"), json, file: text("file"), type: figure.dataset.type, answer: figure.dataset.answer ?? "json" };
};
const indent = (text, by) => text.replaceAll("\n", "\n" + by);
const python = (value, by = "    ") => {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const list = Array.isArray(value);
  const rows = list ? value.map((v) => python(v, by + "    ")) : Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${python(v, by + "    ")}`);
  const [open, close] = list ? "[]" : "{}";
  return rows.length ? `${open}\n${rows.map((row) => `${by}    ${row},\n`).join("")}${by}${close}` : open + close;
};
const languages = {
  Python(e) {
    const lines = [e.json || e.answer === "json" ? "import json" : "", "import os", e.answer === "file" ? "import shutil\nimport sys" : "", "import urllib.request"].filter(Boolean);
    lines.push("", "request = urllib.request.Request(", `    os.environ["LODESTONE_URL"] + ${JSON.stringify(e.path)},`);
    if (e.method !== "GET") lines.push(`    method="${e.method}",`);
    lines.push(`    headers={`, `        "Authorization": "Bearer " + os.environ["LODESTONE_API_KEY"],`);
    if (e.json || e.file) lines.push(`        "Content-Type": "${e.type ?? "application/json"}",`);
    lines.push("    },");
    if (e.json) lines.push(`    data=json.dumps(${python(JSON.parse(e.json))}).encode(),`);
    if (e.file) lines.push(`    data=open("${e.file}", "rb").read(),`);
    lines.push(")", "with urllib.request.urlopen(request) as answer:");
    lines.push({
      json: "    print(json.load(answer))", none: "    print(answer.status)", file: "    shutil.copyfileobj(answer, sys.stdout.buffer)",
      stream: `    for line in answer:\n        print(line.decode(), end="")`,
    }[e.answer]);
    return lines.join("\n");
  },
  TypeScript(e) {
    const lines = [];
    if (e.file) lines.push(`import { readFile } from "node:fs/promises";`);
    if (e.answer === "file") lines.push(`import { writeFile } from "node:fs/promises";`);
    if (lines.length) lines.push("");
    lines.push(`const answer = await fetch(process.env.LODESTONE_URL + ${JSON.stringify(e.path)}, {`);
    if (e.method !== "GET") lines.push(`  method: "${e.method}",`);
    const key = "Authorization: `Bearer ${process.env.LODESTONE_API_KEY}`";
    lines.push(...(e.json || e.file ? ["  headers: {", `    ${key},`, `    "Content-Type": "${e.type ?? "application/json"}",`, "  },"] : [`  headers: { ${key} },`]));
    if (e.json) lines.push(`  body: JSON.stringify(${indent(e.json, "  ")}),`);
    if (e.file) lines.push(`  body: await readFile("${e.file}"),`);
    lines.push("});", `if (!answer.ok) throw new Error(await answer.text());`);
    lines.push({
      json: "console.log(await answer.json());", none: "console.log(answer.status);", file: `await writeFile("answer", new Uint8Array(await answer.arrayBuffer()));`,
      stream: `const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();\nfor (let part; (part = await reader?.read()) && !part.done; ) console.log(part.value);`,
    }[e.answer]);
    return lines.join("\n");
  },
  Go(e) {
    const quoted = e.json && (e.json.includes("`") ? JSON.stringify(e.json) : "`" + e.json + "`");
    const uses = ["io", "log", "net/http", "os"];
    if (e.json) uses.push("strings");
    const lines = ["package main", "", "import (", ...uses.map((name) => `\t"${name}"`), ")", "", "func main() {"];
    if (e.json) lines.push(`\tbody := strings.NewReader(${quoted})`);
    if (e.file) lines.push(`\tbody, err := os.Open("${e.file}")`, "\tif err != nil {", "\t\tlog.Fatal(err)", "\t}");
    lines.push(`\trequest, err := http.NewRequest("${e.method}", os.Getenv("LODESTONE_URL")+${JSON.stringify(e.path)}, ${e.json || e.file ? "body" : "nil"})`);
    lines.push("\tif err != nil {", "\t\tlog.Fatal(err)", "\t}", `\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("LODESTONE_API_KEY"))`);
    if (e.json || e.file) lines.push(`\trequest.Header.Set("Content-Type", "${e.type ?? "application/json"}")`);
    lines.push("\tanswer, err := http.DefaultClient.Do(request)", "\tif err != nil {", "\t\tlog.Fatal(err)", "\t}", "\tdefer answer.Body.Close()");
    lines.push("\tlog.Print(answer.Status)", "\tif _, err := io.Copy(os.Stdout, answer.Body); err != nil {", "\t\tlog.Fatal(err)", "\t}", "}");
    return lines.join("\n");
  },
};

// Colours: text, numbers and words of the language. What is in a text is text alone.
const words = "await|const|new|if|for|throw|import|from|with|as|in|print|package|func|defer|return|nil|null|true|false|None|True|False|curl";
const pattern = new RegExp(String.raw`("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|` + "`[^`]*`" + String.raw`)(\s*:)?|(?<![\w.$-])(-?\d[\d.]*)(?![\w-])|(?<![\w.$/-])(${words})(?![\w/-])`, "g");
const colour = (code) => {
  const text = code.textContent;
  const pieces = [];
  let at = 0;
  const piece = (kind, value) => {
    const span = document.createElement("span");
    span.className = kind;
    span.textContent = value;
    pieces.push(span);
  };
  for (const m of text.matchAll(pattern)) {
    pieces.push(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[1]) {
      piece(m[2] ? "k" : "t", m[1]);
      pieces.push(m[2] ?? "");
    } else piece(m[3] ? "n" : "w", m[0]);
  }
  code.replaceChildren(...pieces, text.slice(at));
};

const element = (name, properties = {}, ...children) => {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
};
const calls = [...document.querySelectorAll("figure.call")];
const names = ["curl", ...Object.keys(languages)];
const shows = []; // of each example: shows it in a language
const choose = (name) => { for (const show of shows) show(name); };

let key = ""; // typed once for all forms; it is kept nowhere else
const runs = []; // the buttons that open forms
const form = (figure, e) => {
  const article = figure.closest("article"), id = article.id + "-";
  const changes = e.method !== "GET" && article.querySelector(".facts code").textContent !== "read";
  const field = (name, label, input) => {
    input.id = id + name;
    return element("p", {}, element("label", { htmlFor: input.id, textContent: label }), input);
  };
  const keyInput = element("input", { type: "password", autocomplete: "off", spellcheck: false, value: key, placeholder: "lsk_…", className: "key" });
  const path = element("input", { type: "text", value: e.path, spellcheck: false, autocomplete: "off" });
  const body = e.json ? element("textarea", { value: e.json, rows: Math.min(12, e.json.split("\n").length), spellcheck: false }) : e.file ? element("input", { type: "file", accept: e.type }) : null;
  const send = element("button", { type: "submit", className: "send", textContent: "Run with this key" });
  const status = element("p", { className: "status-line" });
  status.setAttribute("role", "status");
  const code = element("code");
  const answer = element("pre", { tabIndex: 0, hidden: true }, code);
  answer.setAttribute("role", "group");
  answer.setAttribute("aria-label", "Answer");
  const f = element("form", { className: "try", autocomplete: "off" },
    field("key", "API key", keyInput), field("path", `${e.method} path`, path), ...(body ? [field("body", e.file ? "File" : "Body", body)] : []),
    element("p", { className: "act" }, send, changes ? "This changes what the account has." : ""), status, answer);
  keyInput.addEventListener("input", () => {
    key = keyInput.value.trim();
    for (const other of document.querySelectorAll("input.key")) if (other !== keyInput) other.value = key;
  });
  let running; // ends the request that runs
  f.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (running) return void running.abort();
    const say = (text) => { status.textContent = text; };
    let url;
    try { url = new URL(root + path.value.trim()); } catch { /* said below */ }
    if (!key) return void (say("Type an API key."), keyInput.focus());
    if (!/^[!-~]+$/.test(key)) return void (say("A key has letters, digits and signs of ASCII only."), keyInput.focus());
    if (!url || url.origin !== location.origin || !path.value.trim().startsWith("/api/")) return void (say("The path begins with /api/."), path.focus());
    if (e.file && !body.files.length) return void (say("Choose a file."), body.focus());
    running = new AbortController();
    send.textContent = "Stop";
    answer.hidden = true;
    say("Sent.");
    const begin = performance.now();
    let got = "", size = 0, head = "";
    try {
      const headers = { Authorization: `Bearer ${key}` };
      if (e.json) headers["Content-Type"] = "application/json";
      if (e.file) headers["Content-Type"] = body.files[0].type || e.type;
      const r = await fetch(url, { method: e.method, headers, body: e.json ? body.value : e.file ? body.files[0] : undefined, credentials: "omit", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer", signal: running.signal });
      const type = (r.headers.get("Content-Type") ?? "").split(";")[0];
      const readable = !type || /json|^text\//.test(type);
      head = `${r.status} ${r.statusText}${type ? ` · ${type}` : ""}`;
      const reader = r.body?.pipeThrough(new TransformStream({ transform(part, to) { size += part.length; to.enqueue(part); } })).getReader();
      const decoder = new TextDecoder();
      for (let part; (part = await reader?.read()) && !part.done;) {
        if (readable && got.length < 200_000) got += decoder.decode(part.value, { stream: true });
        if (type === "text/event-stream") { say(`${head} · goes on`); code.textContent = got; answer.hidden = false; }
      }
      if (/json/.test(type)) try { got = JSON.stringify(JSON.parse(got), null, 2); } catch { /* lines, or a part of it */ }
      say(`${head} · ${size.toLocaleString("en")} bytes · ${Math.round(performance.now() - begin)} ms${readable || !size ? "" : " · not shown, since it is no text"}`);
    } catch (error) {
      say(running.signal.aborted ? `${head ? `${head} · ` : ""}stopped` : `No answer: ${error.message}`);
    }
    code.textContent = got;
    if (got.length < 50_000) colour(code);
    answer.hidden = !got;
    running = undefined;
    send.textContent = "Run with this key";
  });
  return f;
};

const work = new Map(); // what an example still needs when it is seen
for (const figure of calls) {
  const e = parts(figure), caption = figure.querySelector("figcaption"), pre = figure.querySelector("pre"), code = pre.querySelector("code"), curl = code.textContent;
  const id = figure.closest("article").id;
  pre.id = id + "-code";
  pre.setAttribute("role", "tabpanel");
  const tabs = names.map((name) => {
    const tab = element("button", { type: "button", className: "tab", textContent: name, onclick: () => hold(tab, () => choose(name)) });
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", pre.id);
    return tab;
  });
  // The examples above have another height in another language: the pressed tab stays where it is.
  const hold = (tab, change) => {
    const before = tab.getBoundingClientRect().top;
    change();
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
  };
  const list = element("div", { className: "tabs" }, ...tabs);
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language of the example");
  list.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -tabs.length, End: tabs.length }[event.key], at = tabs.indexOf(event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = tabs[Math.abs(step) === 1 ? (at + step + tabs.length) % tabs.length : step < 0 ? 0 : tabs.length - 1];
    next.focus();
    next.click();
  });
  let shown = "";
  const show = (name) => {
    for (const tab of tabs) {
      const on = tab.textContent === name;
      tab.setAttribute("aria-selected", on);
      tab.tabIndex = on ? 0 : -1;
    }
    if (shown === name) return;
    shown = name;
    pre.setAttribute("aria-label", `Example in ${name}`);
    code.textContent = name === "curl" ? curl : languages[name](e);
    if (!work.has(figure)) colour(code);
  };
  const run = element("button", { type: "button", className: "copy run", textContent: "Run", hidden: true });
  run.setAttribute("aria-expanded", "false");
  run.addEventListener("click", () => {
    const open = figure.querySelector("form");
    if (open) open.remove();
    else {
      figure.append(form(figure, e));
      figure.querySelector(key ? "input[type=text]" : "input.key").focus();
    }
    run.setAttribute("aria-expanded", String(!open));
  });
  runs.push(run);
  caption.querySelector("span").replaceWith(list);
  caption.querySelector(".copy").before(run);
  work.set(figure, () => colour(code));
  shows.push(show);
  show("curl");
}
// What is out of sight is coloured when it comes.
const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    seen.unobserve(target);
    work.get(target)?.();
    work.delete(target);
  }
}, { rootMargin: "400px" });
for (const figure of document.querySelectorAll("figure.code")) {
  if (!work.has(figure)) work.set(figure, () => colour(figure.querySelector("code")));
  seen.observe(figure);
}
addEventListener("beforeprint", () => { for (const [figure, paint] of work) { seen.unobserve(figure); paint(); } work.clear(); });

// Requests are sent for whoever has Lodestone on this machine, and for who is signed in to the dashboard.
const offer = () => { for (const run of runs) run.hidden = false; };
if (["127.0.0.1", "localhost", "[::1]"].includes(location.hostname)) offer();
else fetch(`${root}/dashboard/new`, { method: "HEAD", redirect: "manual" }).then((r) => (r.ok || r.status === 403) && offer(), () => {}); // 403: who may only read
