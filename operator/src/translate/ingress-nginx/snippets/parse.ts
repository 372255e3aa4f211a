/**
 * Reads text of nginx's configuration: words, quotes, comments, statements and blocks, as nginx's own reader does
 * (ngx_conf_file.c). Nothing of it is executed. Takes time linear in the text.
 */
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** A statement: its words without quotes, and the statements of its block. */
export type Statement = {
  readonly words: readonly [name: string, ...args: string[]];
  /** The line in the annotation, counted from 1. */
  readonly line: number;
  /**
   * The statements of the block; undefined for a statement that ends with a semicolon. A block of Lua is empty,
   * because its text is not parsed.
   */
  readonly block?: readonly Statement[];
};

/** The maximum number of characters and statements of a snippet, and the maximum depth of its blocks. */
export const snippetLimits = { maxLength: 65_536, maxStatements: 64, maxDepth: 16 };

const expected = "statements that end with a semicolon or a block in braces";

type Token =
  | { readonly type: "word"; readonly text: string }
  | { readonly type: ";" | "{" | "}" | "end" }
  /** The text has a fault, which the reader records. */
  | { readonly type: "fault" };

const faulty = { type: "fault" } as const;

/** Parses the text of a snippet. A problem names the line. */
export function parseSnippet(text: string): Result<readonly Statement[]> {
  if (text.length > snippetLimits.maxLength) {
    return problem(`has more than ${snippetLimits.maxLength} characters`);
  }
  const reader = new Reader(text);
  const statements = reader.statements(0);
  return statements === undefined ? problem(reader.problem ?? "cannot be read", expected) : ok(statements);
}

const space = /\s/;

class Reader {
  /** The reason why reading has ended early. */
  problem: string | undefined;
  private readonly text: string;
  private at = 0;
  private line = 1;
  private count = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The statements up to the end of the text, or of the block that begins before them; undefined after a fault. */
  statements(depth: number): readonly Statement[] | undefined {
    if (depth > snippetLimits.maxDepth) return this.fail("blocks are nested too deeply");
    const found: Statement[] = [];
    for (;;) {
      this.skipBlanks();
      const { line } = this;
      const first = this.token();
      if (first.type === "end" && depth === 0) return found;
      if (first.type === "}" && depth > 0) return found;
      if (first.type !== "word") {
        return this.fail(first.type === "end" ? "a block is not closed" : `unexpected "${first.type}"`);
      }
      if (++this.count > snippetLimits.maxStatements) {
        return this.fail(`there are more than ${snippetLimits.maxStatements} statements`);
      }
      const statement = this.statement(first.text, line, depth);
      if (statement === undefined) return undefined;
      found.push(statement);
    }
  }

  private statement(name: string, line: number, depth: number): Statement | undefined {
    const words: [string, ...string[]] = [name];
    for (;;) {
      const token = this.token();
      if (token.type === "word") words.push(token.text);
      else if (token.type === ";") return { words, line };
      else if (token.type === "{") {
        const block = name.endsWith("_by_lua_block") ? this.skipLua() : this.statements(depth + 1);
        return block && { words, line, block };
      } else return this.fail(`the statement "${name.slice(0, 40)}" of line ${line} does not end`);
    }
  }

  private token(): Token {
    this.skipBlanks();
    const first = this.text[this.at];
    if (first === undefined) return { type: "end" };
    if (first === ";" || first === "{" || first === "}") {
      this.at += 1;
      return { type: first };
    }
    const text = first === '"' || first === "'" ? this.quoted(first) : this.bare();
    return text === undefined ? faulty : { type: "word", text };
  }

  /** Skips blanks and comments. A comment begins where a word could begin. */
  private skipBlanks(): void {
    for (;;) {
      const character = this.text[this.at];
      if (character === undefined) return;
      if (character === "#") {
        const end = this.text.indexOf("\n", this.at);
        this.at = end === -1 ? this.text.length : end;
      } else if (space.test(character)) this.next();
      else return;
    }
  }

  private quoted(quote: string): string | undefined {
    const { line } = this;
    this.at += 1;
    const parts: string[] = [];
    for (;;) {
      const character = this.text[this.at];
      if (character === undefined) return this.fail("a quoted text is not closed", line);
      if (character === quote) break;
      parts.push(character === "\\" ? this.escape() : this.next());
    }
    this.at += 1;
    const after = this.text[this.at];
    if (after !== undefined && !space.test(after) && !";{)".includes(after)) {
      return this.fail("a quoted text is followed by another character than a blank");
    }
    return parts.join("");
  }

  /**
   * Reads a word without quotes. A brace that follows a dollar sign belongs to a variable; any other one begins
   * a block.
   */
  private bare(): string {
    const parts: string[] = [];
    for (let character = this.text[this.at]; character !== undefined; character = this.text[this.at]) {
      if (space.test(character) || character === ";") break;
      if (character === "{" && parts.at(-1) !== "$") break;
      parts.push(character === "\\" ? this.escape() : this.next());
    }
    return parts.join("");
  }

  /** Reads an escaped quote, backslash or letter of `trn`. Before any other character, the backslash is kept. */
  private escape(): string {
    this.at += 1;
    const character = this.text[this.at];
    if (character === undefined) return "\\";
    const text = this.next();
    const plain = { t: "\t", r: "\r", n: "\n" }[text];
    if (plain !== undefined) return plain;
    return text === '"' || text === "'" || text === "\\" ? text : `\\${text}`;
  }

  /** Skips a block of Lua by counting braces outside of strings and comments. */
  private skipLua(): readonly Statement[] | undefined {
    let depth = 1;
    while (depth > 0) {
      const character = this.text[this.at];
      if (character === undefined) return this.fail("a block is not closed");
      if (this.text.startsWith("--", this.at)) {
        const end = this.text.indexOf("\n", this.at);
        this.at = end === -1 ? this.text.length : end;
      } else if (character === '"' || character === "'") this.skipLuaString(character);
      else {
        if (character === "{") depth += 1;
        else if (character === "}") depth -= 1;
        this.next();
      }
    }
    return [];
  }

  private skipLuaString(quote: string): void {
    this.at += 1;
    for (let character = this.text[this.at]; character !== undefined; character = this.text[this.at]) {
      if (character === "\\") this.at += 1;
      else if (character === quote || character === "\n") {
        this.at += character === quote ? 1 : 0;
        return;
      }
      if (this.at < this.text.length) this.next();
    }
  }

  private next(): string {
    const character = this.text[this.at] ?? "";
    if (character === "\n") this.line += 1;
    this.at += 1;
    return character;
  }

  /** Records the first fault. Later ones only follow from it. */
  private fail(what: string, line = this.line): undefined {
    this.problem ??= `line ${line}: ${what}`;
  }
}
