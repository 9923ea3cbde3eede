// Islands: parts of a screen that go on by themselves, each with a script of its own, which only its screens load.

interface Island {
  start(root: Element): () => void;
}

// Bars, funnels and grids are islands as well, of the script readout.
const roots = "[data-island], figure.chart > :is(svg.stack, svg.heat)";

const running = new Map<Element, () => void>();
const loading = new WeakSet<Element>();

/** showIslands starts the islands of what is drawn, and ends those of what was drawn before. */
export function showIslands(): void {
  for (const [root, stop] of running) {
    if (root.isConnected) continue;
    running.delete(root);
    stop();
  }
  for (const root of document.querySelectorAll<HTMLElement>(roots)) {
    if (!running.has(root) && !loading.has(root)) void load(root);
  }
}

async function load(root: HTMLElement): Promise<void> {
  loading.add(root);
  try {
    // A variable: each island is a file of its own, built apart.
    const address = new URL(`${root.dataset.island ?? "readout"}.js`, import.meta.url).href;
    const island = (await import(address)) as Island;
    if (root.isConnected) running.set(root, island.start(root));
  } catch {
    root.dispatchEvent(new Event("failed")); // what the server drew stays
  } finally {
    loading.delete(root);
  }
}
