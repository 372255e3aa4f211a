/** Text from objects on its way into a message that people read: short, on one line, well-formed. */
import { Buffer } from "node:buffer";
import { clipText } from "@svc-gateway/common/values/clip.ts";

const maxQuotedLength = 80;
/** The note of a Kubernetes Event has at most 1024 bytes. */
const maxMessageBytes = 1000;

/** Control and format characters (which hide or reorder what follows), line separators, lone surrogates. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

const clean = (text: string): string => text.replaceAll(unprintable, "\uFFFD");

/** A value from an object in quotation marks, cut to about 80 characters around the first one that looks wrong. */
export const quote = (text: string): string => `"${clean(clipText(text, maxQuotedLength).text)}"`;

/** A kind from an object in quotation marks; kinds of the core group, whose name is empty, have no group. */
export const quoteKind = ({ group, kind }: { readonly group: string; readonly kind: string }): string =>
  quote(group === "" ? kind : `${group}/${kind}`);

/** "an HTTPRoute", "a UDPRoute": the name of a kind as it is spoken. */
export const withArticle = (kind: string): string => `${/^(?:[AEIO]|HTTP)/.test(kind) ? "an" : "a"} ${kind}`;

/** A message that fits a Kubernetes Event; what is longer is cut between characters. */
export function oneLine(message: string): string {
  const line = clean(message.slice(0, maxMessageBytes));
  const bytes = Buffer.from(line);
  if (bytes.length <= maxMessageBytes && message.length <= maxMessageBytes) return line;
  return `${bytes
    .subarray(0, maxMessageBytes - 3)
    .toString()
    .replace(/\uFFFD+$/u, "")}...`;
}

/** Characters of names in one message; an Event holds no more. */
const namesPerMessage = 700;

/** Comma-joined names, as many in each text as a message can hold. */
export function namesInMessages(names: readonly string[]): readonly string[] {
  const messages: string[] = [];
  for (const name of names) {
    const last = messages.at(-1);
    if (last === undefined || last.length + name.length > namesPerMessage) messages.push(name);
    else messages[messages.length - 1] = `${last}, ${name}`;
  }
  return messages;
}

/** Sentences of one message, and characters of each. */
const maxSentences = 5;
const maxSentenceLength = 500;

/** Sentences as one message of bounded length. */
export const joinSentences = (sentences: readonly string[]): string => {
  const shown = sentences.slice(0, maxSentences).map((text) => text.slice(0, maxSentenceLength));
  const more = sentences.length - shown.length;
  return more === 0 ? shown.join("; ") : `${shown.join("; ")}; and ${more} more`;
};
