/** The texts of the project's files that people read: what the list of words and the rule for test names are held to. */
import { placeholder, tokensOf, type Token } from "./tokens.ts";

export type TextKind = "prose" | "test name" | "message" | "comment";

export type Text = {
  readonly kind: TextKind;
  /** The line on which the text begins, counted from 1. */
  readonly line: number;
  /** With the line breaks of the file, except in strings. */
  readonly text: string;
};

/** Every text of a file, by the kind that its path has; none of a file of another kind. */
export function textsOf(path: string, content: string): readonly Text[] {
  if (path.endsWith(".md")) return textsOfMarkdown(content);
  if (path.endsWith(".yaml")) return textsOfYaml(content);
  if (!path.endsWith(".ts")) return [];
  const tokens = tokensOf(content);
  const comments = tokens.flatMap(({ kind, text, line }): readonly Text[] =>
    kind === "comment" ? [{ kind, line, text: proseOf(text) }] : [],
  );
  const isTest = path.endsWith(".test.ts");
  if (isTest) return [...testNames(tokens), ...comments];
  return /(?:^|\/)src\//.test(path) ? [...messages(tokens), ...comments] : comments;
}

/** Paragraphs, entries of lists and rows of tables are one text each. Code, comments and targets of links are left out. */
function textsOfMarkdown(content: string): readonly Text[] {
  const withoutCode = content
    .replaceAll(/^( *)(```+|~~~+).*?\n\1\2/gms, blankLines)
    .replaceAll(/`[^`\n]+(?:\n[^`\n]+)?`/g, (code) => `${placeholder}${blankLines(code)}`)
    .replaceAll(/<!--.*?-->/gs, blankLines)
    .replaceAll(/\]\([^)\s]*\)/g, "]");
  return paragraphs(withoutCode.split("\n"), /^\s*(?:[-*+|#>]|\d+\.|$)/);
}

function textsOfYaml(content: string): readonly Text[] {
  const lines = content.split("\n").map((line) => /(?:^|\s)#(?: (.*))?$/.exec(line)?.[1] ?? "");
  return paragraphs(lines, /^$/);
}

/** Joins lines up to one with which a new text begins. */
function paragraphs(lines: readonly string[], beginning: RegExp): readonly Text[] {
  const texts: { kind: "prose"; line: number; text: string }[] = [];
  for (const [index, line] of lines.entries()) {
    const last = texts.at(-1);
    if (last === undefined || beginning.test(line) || lines[index - 1] === "") {
      texts.push({ kind: "prose", line: index + 1, text: line });
    } else last.text += `\n${line}`;
  }
  return texts.filter(({ text }) => text.trim() !== "");
}

/** Returns the prose of a comment: without the stars at the beginning of lines, code and names of files. */
const proseOf = (comment: string): string =>
  comment.replaceAll(/(?<=\n)\s*\*(?!\/)/g, "").replaceAll(/`[^`\n]+`|\b[\w./-]+\.(?:md|ts)\b/g, placeholder);

const blankLines = (text: string): string => text.replaceAll(/[^\n]/g, "");

/** Returns the first arguments of `it` and `describe` that are strings. */
function testNames(tokens: readonly Token[]): readonly Text[] {
  return tokens.flatMap(({ kind, text, line }, index): readonly Text[] => {
    if (kind !== "text" || tokens[index - 1]?.text !== "(") return [];
    const before = tokens[index - 3]?.text === "." ? index - 4 : index - 2;
    const name = tokens[before];
    if (name?.kind !== "name" || tokens[before - 1]?.text === ".") return [];
    if (name.text === "it") return [{ kind: "test name", line, text }];
    return name.text === "describe" ? [{ kind: "message", line, text }] : [];
  });
}

/** Strings of two words and more: texts of statuses, Events, findings, log lines, errors and reference pages. */
function messages(tokens: readonly Token[]): readonly Text[] {
  return tokens
    .filter(({ kind, text }) => kind === "text" && /[a-z…][,:;]? [a-z…]/i.test(text))
    .map(({ text, line }) => ({ kind: "message", line, text }));
}
