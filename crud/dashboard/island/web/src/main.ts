// The scripts of the dashboard. Every screen works without them.
import { showCopies, startCopy } from "./copy.ts";
import { startForms } from "./form.ts";
import { startKeys } from "./keys.ts";
import { startSwap } from "./swap.ts";
import { readWords } from "./words.ts";

readWords();
startSwap();
startForms();
startCopy();
startKeys();
showCopies();
document.addEventListener("drawn", showCopies);
