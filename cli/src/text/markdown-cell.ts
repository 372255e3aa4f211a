/** Text that is one cell of a table of Markdown, or one item of a list, and no markup. */
export const markdownCell = (text: string): string =>
  text.replaceAll(/[\\|<>*_`]/g, String.raw`\$&`).replaceAll(/\s+/g, " ");
