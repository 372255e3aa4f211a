/**
 * The same text in memory of its own, one octet per character. A field is a piece of the text of a whole head, all of which it keeps
 * in memory while it is kept itself.
 */
export const ownText = (text: string): string => Buffer.from(text, "latin1").toString("latin1");
