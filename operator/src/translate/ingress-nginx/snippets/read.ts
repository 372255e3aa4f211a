import type { TemplateOptions } from "@svc-gateway/common/features/request-template.ts";
import { classify, mentionsProtection, type ClassedStatement } from "./classify.ts";
import { parseSnippet } from "./parse.ts";

/** A snippet: the effects of its statements, or the reason why it cannot be read. */
export type ReadSnippet = {
  /** The effect of each statement, with these values of variables; empty if the snippet cannot be read. */
  readonly statementsFor: (options?: TemplateOptions) => readonly ClassedStatement[];
  /** The reason. `isProtective`: the text contains words of statements that protect. */
  readonly problem?: { readonly message: string; readonly isProtective: boolean };
};

/** Reads a snippet, once for all values of variables. Nothing of it is executed. */
export function readSnippet(text: string): ReadSnippet {
  const parsed = parseSnippet(text);
  if (parsed.ok) return { statementsFor: (options = {}) => classify(parsed.value, options) };
  const { message } = parsed.error;
  return { statementsFor: () => [], problem: { message, isProtective: mentionsProtection(text) } };
}
