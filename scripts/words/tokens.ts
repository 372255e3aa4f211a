/** A part of a TypeScript source that people read, or that says what a text is for. */
export type Token = {
  readonly kind: "name" | "mark" | "text" | "comment";
  /**
   * The name, mark or comment as it is written, or the text of a string. Every interpolation in a template is
   * `placeholder`; the strings inside it are tokens of their own.
   */
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
};

/** Replaces the value of an interpolation inside a template. */
export const placeholder = "…";

const wordBeforeRegex = new Set([
  "return",
  "typeof",
  "case",
  "in",
  "of",
  "void",
  "yield",
  "await",
  "throw",
  "else",
]);
const pattern =
  /(?<comment>\/\/[^\n]*|\/\*.*?\*\/)|(?<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<name>[\p{L}_$][\p{L}\p{N}_$]*)|(?<number>\d[\w.]*)|(?<space>\s+)|(?<mark>.)/suy;
const regex = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/uy;

/**
 * The names, marks, strings and comments of a TypeScript source in order. It is a scanner and no parser: a regular
 * expression is distinguished from a division by the token before it, which is enough for formatted sources.
 */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  const lines = lineCounter(source);
  let last: Token | undefined;
  const add = (kind: Token["kind"], text: string, offset: number): void => {
    const token = { kind, text, line: lines(offset) };
    tokens.push(token);
    if (kind !== "comment") last = token;
  };
  const canBeginRegex = (): boolean =>
    last === undefined ||
    (last.kind === "mark" && ![")", "]", "}"].includes(last.text)) ||
    (last.kind === "name" && wordBeforeRegex.has(last.text));

  /** Scans code up to the end, or up to the brace that closes an interpolation of a template. Returns the offset behind it. */
  function scanCode(from: number, isInTemplate: boolean): number {
    let offset = from;
    let depth = 0;
    while (offset < source.length) {
      if (source[offset] === "`") {
        offset = scanTemplate(offset);
        continue;
      }
      if (source[offset] === "/" && !/[/*]/.test(source[offset + 1] ?? "") && canBeginRegex()) {
        regex.lastIndex = offset;
        const length = regex.exec(source)?.[0].length ?? 1;
        add("mark", ")", offset);
        offset += length;
        continue;
      }
      pattern.lastIndex = offset;
      const match = pattern.exec(source);
      const { comment, string, name, number, mark } = match?.groups ?? {};
      if (comment !== undefined) add("comment", comment, offset);
      if (string !== undefined) add("text", unescape(string.slice(1, -1)), offset);
      if (name !== undefined) add("name", name, offset);
      if (number !== undefined) add("name", number, offset);
      if (mark !== undefined) {
        if (mark === "{") depth++;
        if (mark === "}" && isInTemplate && depth-- === 0) return offset + 1;
        add("mark", mark, offset);
      }
      offset += match?.[0].length ?? 1;
    }
    return offset;
  }

  function scanTemplate(from: number): number {
    let offset = from + 1;
    let text = "";
    const inner: Token[] = [];
    while (offset < source.length && source[offset] !== "`") {
      if (source.startsWith("${", offset)) {
        const mark = tokens.length;
        last = undefined;
        offset = scanCode(offset + 2, true);
        inner.push(...tokens.splice(mark));
        text += placeholder;
      } else {
        const length = source[offset] === "\\" ? 2 : 1;
        text += unescape(source.slice(offset, offset + length));
        offset += length;
      }
    }
    add("text", text, from);
    tokens.push(...inner);
    return offset + 1;
  }

  scanCode(0, false);
  return tokens;
}

/** Says on which line an offset is; offsets may come in any order. */
function lineCounter(source: string): (offset: number) => number {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

const unescape = (text: string): string => text.replaceAll(/\\[nrt]/g, " ").replaceAll(/\\(.)/gs, "$1");
