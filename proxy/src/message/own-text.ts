/**
 * Copies a latin1 text into its own memory. A field is a slice of the text of a whole head, and would keep all of that
 * text in memory.
 */
export const ownText = (text: string): string => Buffer.from(text, "latin1").toString("latin1");
