/**
 * Parses YAML documents into nodes, by the rules of YAML 1.1 where they differ from 1.2, because kubectl does so. JSON
 * is parsed the same way: it is YAML, and needs line numbers, too.
 */
import { Composer, Lexer, LineCounter, Parser, type Document, type ParsedNode, type Tags } from "yaml";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { maxValueDepth } from "./limits.ts";
import type { Finding, Position } from "./place.ts";

/** The nodes of a document. Offsets of nodes count from the start of the text that was parsed. */
export type YamlNodes = {
  readonly root: ParsedNode;
  readonly positionOf: (offset: number) => Position;
};

/**
 * The reason why a text is not YAML. `nodes` are the nodes that the parser recognised in spite of the fault, partly by
 * guesswork.
 */
export type YamlFault = Finding & { readonly nodes?: YamlNodes };

/** Lets other work of the process run now and then; returns undefined if the caller can continue without waiting. */
export type Pause = () => Promise<void> | undefined;

/** Tags of YAML 1.1 that the parser of Kubernetes keeps as text, so that a date or `1:30` is unchanged. */
const omittedTags: ReadonlySet<string> = new Set([
  "tag:yaml.org,2002:timestamp",
  "tag:yaml.org,2002:binary",
  "tag:yaml.org,2002:omap",
  "tag:yaml.org,2002:pairs",
  "tag:yaml.org,2002:set",
]);

const keepKubernetesTags = (tags: Tags): Tags =>
  tags
    .filter(
      (tag) =>
        typeof tag === "string" || (!omittedTags.has(tag.tag) && !("format" in tag && tag.format === "TIME")),
    )
    .map((tag) =>
      typeof tag === "object" &&
      tag.tag === "tag:yaml.org,2002:float" &&
      "test" in tag &&
      tag.test !== undefined
        ? { ...tag, test: withDigitFirst(tag.test) }
        : tag,
    );

/**
 * YAML 1.1 also reads names such as `e1` and `.` as numbers. The parser of Kubernetes requires a digit, except in
 * `.inf` and `.nan`.
 */
const withDigitFirst = ({ source, flags }: RegExp): RegExp =>
  new RegExp(`^(?=[-+]?\\.?(?:\\d|inf|nan))(?:${source})`, `${flags}i`);

/**
 * Parses a text with one document (see splitDocuments). A document without content yields no entry. A faulty document
 * yields only its first fault, because later ones are mostly consequences of it.
 */
export async function parseYaml(
  text: string,
  pause: Pause = () => undefined,
): Promise<readonly Result<YamlNodes, YamlFault>[]> {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    version: "1.1",
    customTags: keepKubernetesTags,
    uniqueKeys: false, // checked by convert.ts in linear time
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    // Rejects a text that is nested too deeply before a tree of that depth is built.
    if (parser.stack.length > maxValueDepth) {
      const message = `values must not be nested deeper than ${maxValueDepth} levels`;
      return [fail({ ...positionOf(parser.offset), message })];
    }
    const waiting = pause();
    if (waiting !== undefined) await waiting;
  }
  for (const token of parser.end()) documents.push(...composer.next(token));
  documents.push(...composer.end(false, text.length));
  return documents.flatMap((document) => readDocument(document, positionOf));
}

function readDocument(
  { contents, errors, warnings }: Document.Parsed,
  positionOf: (offset: number) => Position,
): readonly Result<YamlNodes, YamlFault>[] {
  const [problem] = [...errors, ...warnings];
  const nodes = contents === null ? undefined : { root: contents, positionOf };
  if (problem !== undefined) {
    const fault = { ...positionOf(problem.pos[0]), message: problem.message };
    return [fail(nodes === undefined ? fault : { ...fault, nodes })];
  }
  return nodes === undefined ? [] : [ok(nodes)];
}
