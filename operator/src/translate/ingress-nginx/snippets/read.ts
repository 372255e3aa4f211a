import { classify, mentionsProtection, type ClassedStatement } from "./classify.ts";
import { parseSnippet } from "./parse.ts";

/** A snippet: what each of its statements would do, or why it cannot be read. */
export type ReadSnippet = {
  readonly statements: readonly ClassedStatement[];
  /** `isProtective`: words of statements that protect are in it. */
  readonly problem?: { readonly message: string; readonly isProtective: boolean };
};

/** Reads and classes a snippet. Nothing of it is executed. */
export function readSnippet(text: string): ReadSnippet {
  const parsed = parseSnippet(text);
  if (parsed.ok) return { statements: classify(parsed.value) };
  const { message } = parsed.error;
  return { statements: [], problem: { message, isProtective: mentionsProtection(text) } };
}
