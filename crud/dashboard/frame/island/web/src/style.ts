// The styles of what scripts draw. Pages are drawn without it, so they do not carry them.

/** adopt adds styles to the page. */
export function adopt(css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}
