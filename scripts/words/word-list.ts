/**
 * The words that this project does not use, because its readers know and search for other ones. docs/style.md shows the
 * same list, which a test compares.
 */
type Pair = {
  readonly not: RegExp;
  /** The column "Not" of docs/style.md. */
  readonly shown: string;
  /** The column "Write" of docs/style.md. */
  readonly write: string;
};

export const pairs: readonly Pair[] = [
  // 410 Gone is the name of a status.
  { shown: "gone", write: "removed, deleted, closed, no longer", not: /(?<!410\s+)\bgone\b/i },
  { shown: "told, tells", write: "reported, logged, notified, shows", not: /\b(?:told|tells)\b/i },
  { shown: "whoever", write: "callers that, clients that, anyone who", not: /\bwhoever\b/i },
  { shown: "whatever", write: "any, every, everything that", not: /\bwhatever\b/i },
  { shown: "nobody, somebody", write: "a noun: no client, no proxy, a user", not: /\b(?:no|some)body\b/i },
  {
    shown: "the one who, those who",
    write: "a noun: the leader, clients that",
    not: /\b(?:the\s+one|those)\s+who\b/i,
  },
  { shown: "anew", write: "again, from scratch", not: /\banew\b/i },
  { shown: "bear", write: "tolerate, allow", not: /\b(?:bears?|bearing|borne)\b/i },
  { shown: "mend", write: "fix, repair", not: /\bmend(?:s|ed|ing)?\b/i },
  {
    shown: "as long as",
    write: "while, until",
    not: /(?<!\b(?:twice|times|just|least|half)\s+)\bas\s+long\s+as\b/i,
  },
  { shown: "stands", write: "is, appears, is set", not: /\b(?:stands?|stood)\b(?!-)/i },
  { shown: "lies", write: "is, is stored", not: /\b(?:lies?|lying)\b/i },
  {
    shown: "expression",
    write: "regular expression, regex",
    not: /(?<!\b(?:regular|CEL|jq)\s+)\bexpressions?\b/i,
  },
  { shown: "believe", write: "trust", not: /\bbeliev(?:e|es|ed|ing)\b/i },
  { shown: "have it in place", write: "programmed, applied", not: /\b(?:have|has|had)\s+it\s+in\s+place\b/i },
  { shown: "misinformed", write: "stale", not: /\bmisinformed\b/i },
  {
    shown: "give way",
    write: "evict, be evicted, be rejected first",
    not: /\bg(?:ives?|ave|iven|iving)\s+way\b/i,
  },
  { shown: "strangers", write: "unauthenticated clients, untrusted clients", not: /\bstrangers?\b/i },
  { shown: "in vain", write: "without success, for nothing", not: /\bin\s+vain\b/i },
  { shown: "overhear, whisper", write: "observe; log at debug", not: /\b(?:overhear|whisper)s?\b/i },
];

/** The pairs whose avoided word is in a text, with that word as it is written there and its offset. */
export function avoidedWords(
  text: string,
): readonly { readonly found: string; readonly offset: number; readonly write: string }[] {
  return pairs.flatMap(({ not, write }) => {
    const match = not.exec(text);
    return match === null ? [] : [{ found: match[0], offset: match.index, write }];
  });
}
