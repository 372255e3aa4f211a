/** Formats text from objects for messages: short, on one line, well-formed. */
import { Buffer } from "node:buffer";
import { clipText } from "@svc-gateway/common/values/clip.ts";

const maxQuotedLength = 80;
/** The note of a Kubernetes Event has at most 1024 bytes. */
const maxMessageBytes = 1000;

/** Control and format characters (which hide or reorder what follows), line separators, lone surrogates. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const clean = (text: string): string => text.replaceAll(unprintable, "\uFFFD");

/** A value from an object in quotation marks, shortened to about 80 characters around the first suspicious one. */
export const quote = (text: string): string => `"${clean(clipText(text, maxQuotedLength).text)}"`;

/** A kind from an object in quotation marks. Kinds of the core group, whose name is empty, have no group. */
export const quoteKind = ({ group, kind }: { readonly group: string; readonly kind: string }): string =>
  quote(group === "" ? kind : `${group}/${kind}`);

/** The name of a kind with its article, as pronounced: "an HTTPRoute", "a UDPRoute". */
export const withArticle = (kind: string): string => `${/^(?:[AEIO]|HTTP)/.test(kind) ? "an" : "a"} ${kind}`;

/** A message that fits into a Kubernetes Event. A longer one is truncated between characters. */
export function oneLine(message: string): string {
  const line = clean(message.slice(0, maxMessageBytes));
  const bytes = Buffer.from(line);
  if (bytes.length <= maxMessageBytes && message.length <= maxMessageBytes) return line;
  return `${bytes
    .subarray(0, maxMessageBytes - 3)
    .toString()
    .replace(/\uFFFD+$/u, "")}...`;
}

/** The maximum number of characters of names in one message, so that it fits into an Event. */
const namesPerMessage = 700;

/** Comma-separated names, distributed over as few texts as possible. */
export function namesInMessages(names: readonly string[]): readonly string[] {
  const messages: string[] = [];
  for (const name of names) {
    const last = messages.at(-1);
    if (last === undefined || last.length + name.length > namesPerMessage) messages.push(name);
    else messages[messages.length - 1] = `${last}, ${name}`;
  }
  return messages;
}

/** The maximum number of sentences of one message, and of characters of each. */
const maxSentences = 5;
const maxSentenceLength = 500;

/** Joins sentences into one message of bounded length. */
export const joinSentences = (sentences: readonly string[]): string => {
  const shown = sentences.slice(0, maxSentences).map((text) => text.slice(0, maxSentenceLength));
  const more = sentences.length - shown.length;
  return more === 0 ? shown.join("; ") : `${shown.join("; ")}; and ${more} more`;
};
