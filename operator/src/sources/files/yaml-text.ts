/**
 * Reads the text of YAML documents into nodes, as YAML 1.1 where that differs from 1.2, because that is what kubectl
 * reads. JSON is read the same way: it is YAML, and has the same need for line numbers.
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

/** Why a text is not YAML; `nodes` are what the parser took it for all the same, in places by guesswork. */
export type YamlFault = Finding & { readonly nodes?: YamlNodes };

/** Lets other work of the process run now and then; undefined means "go on". */
export type Pause = () => Promise<void> | undefined;

/** Tags of YAML 1.1 that Kubernetes' parser leaves as text, so that a date or `1:30` stays what was written. */
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

/** YAML 1.1 also takes names such as `e1` and `.` for numbers; Kubernetes' parser asks for a digit, except in `.inf` and `.nan`. */
const withDigitFirst = ({ source, flags }: RegExp): RegExp =>
  new RegExp(`^(?=[-+]?\\.?(?:\\d|inf|nan))(?:${source})`, `${flags}i`);

/**
 * Parses a text that holds one document (see splitDocuments). A document without content gives no entry; one that
 * cannot be read gives the first place where that shows, because what follows is mostly guesswork.
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
    uniqueKeys: false, // convert.ts does it in linear time
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: Document.Parsed[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) documents.push(...composer.next(token));
    // Ends a text that nests without end before a tree of that depth is built.
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
