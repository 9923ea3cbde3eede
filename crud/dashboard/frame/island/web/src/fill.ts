// Texts with placeholders, as the server sends them.

/** fill puts values into the placeholders of a text. */
export function fill(text: string, values: Record<string, string | number>): string {
  return text.replace(/\{([a-z]+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
