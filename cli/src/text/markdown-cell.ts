/** Escapes a text, without line breaks, for one cell of a Markdown table or one item of a list. */
export const markdownCell = (text: string): string =>
  text.replaceAll(/[\\|<>*_`]/g, String.raw`\$&`).replaceAll(/\s+/g, " ");
