// The scripts of the dashboard. Every screen works without them.
import { showCopies, startCopy } from "./copy.ts";
import { startForms } from "./form.ts";
import { showTimes, startTimes } from "./time.ts";
import { startKeys } from "./keys.ts";
import { startSwap } from "./swap.ts";
import { readWords } from "./words.ts";

readWords();
startSwap();
startForms();
startCopy();
startKeys();
startTimes();
for (const show of [showCopies, showTimes]) {
  show();
  document.addEventListener("drawn", show);
}
