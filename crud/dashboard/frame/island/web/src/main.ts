// The scripts of the dashboard. Every screen works without them.
import { showCopies, startCopy } from "./copy.ts";
import { startFolds } from "./fold.ts";
import { startForms } from "./form.ts";
import { showIslands } from "./islands.ts";
import { showTimes, startTimes } from "./time.ts";
import { startKeys } from "./keys.ts";
import { startSwap } from "./swap.ts";

startSwap();
startFolds();
startForms();
startCopy();
startKeys();
startTimes();
for (const show of [showCopies, showTimes, showIslands]) {
  show();
  document.addEventListener("drawn", show);
}
