// The texts that scripts show, in the language of the page: the server wrote them into it.
const texts = JSON.parse(document.getElementById("words")?.textContent ?? "{}") as Record<string, string>;

/** Returns a text with its placeholders filled. */
export function say(key: string, values: Record<string, string | number> = {}): string {
  return (texts[key] ?? key).replace(/\{([a-z]+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

const locale = document.documentElement.lang || "en";

/** Returns a number as the language of the page writes it, with so many digits behind the point. */
export function figure(value: number, digits = 0): string {
  return new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value);
}
