import type { TemplateOptions } from "@svc-gateway/common/features/request-template.ts";
import { classify, mentionsProtection, type ClassedStatement } from "./classify.ts";
import { parseSnippet } from "./parse.ts";

/** A snippet: the effect of each of its statements, or the reason why it cannot be read. */
export type ReadSnippet = {
  readonly statements: readonly ClassedStatement[];
  /** The reason. `isProtective`: the text contains words of statements that protect. */
  readonly problem?: { readonly message: string; readonly isProtective: boolean };
};

/** Reads and classifies a snippet, with the values of variables in `options`. Nothing of it is executed. */
export function readSnippet(text: string, options: TemplateOptions = {}): ReadSnippet {
  const parsed = parseSnippet(text);
  if (parsed.ok) return { statements: classify(parsed.value, options) };
  const { message } = parsed.error;
  return { statements: [], problem: { message, isProtective: mentionsProtection(text) } };
}
