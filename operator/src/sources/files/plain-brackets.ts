/** Lists and maps in brackets that are on one line, such as `[a, b]` and `{ name: web, ports: [80] }`. See plain-yaml.ts. */
import { isPlainKey, readPlainScalar } from "./plain-scalar.ts";

/** Well below what the parser accepts. */
const maxDepth = 32;

const quoted = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'`;
/** Without quotes, a scalar is one word; what follows it ends it. */
const scalar = new RegExp(String.raw`(?:${quoted}|[\w/-][\w./*+=@-]*)(?= *[,\]}])`, "y");
const key = /(?:([A-Za-z][\w./-]*)|"([\w./-]+)"): +/y;
const spaces = / */y;

/** Undefined: the text is no such list or map, or has something in it that is left to the parser. */
export function readBrackets(text: string): unknown {
  const reader = new BracketReader(text);
  return reader.read();
}

class BracketReader {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): unknown {
    const value = this.#readValue();
    return this.#at === this.#text.length ? value : undefined;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const matched = pattern.exec(this.#text);
    if (matched !== null) this.#at = pattern.lastIndex;
    return matched;
  }

  /** Whether this character is next, which is then passed, as are spaces around it. */
  #take(character: string): boolean {
    this.#match(spaces);
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    this.#match(spaces);
    return true;
  }

  #readValue(): unknown {
    if (this.#depth > maxDepth) return undefined;
    this.#depth++;
    const first = this.#text[this.#at];
    const value = first === "[" ? this.#readList() : first === "{" ? this.#readMap() : this.#readScalar();
    this.#depth--;
    return value;
  }

  #readScalar(): unknown {
    const [text] = this.#match(scalar) ?? [];
    return text === undefined ? undefined : readPlainScalar(text);
  }

  #readList(): readonly unknown[] | undefined {
    const list: unknown[] = [];
    this.#take("[");
    if (this.#take("]")) return list;
    do {
      const item = this.#readValue();
      if (item === undefined) return undefined;
      list.push(item);
    } while (this.#take(","));
    return this.#take("]") ? list : undefined;
  }

  #readMap(): object | undefined {
    const map: Record<string, unknown> = {};
    this.#take("{");
    if (this.#take("}")) return map;
    do {
      const [, plain, inQuotes] = this.#match(key) ?? [];
      const name = plain ?? inQuotes;
      if (name === undefined || !isPlainKey(name) || Object.hasOwn(map, name)) return undefined;
      const value = this.#readValue();
      if (value === undefined) return undefined;
      map[name] = value;
    } while (this.#take(","));
    return this.#take("}") ? map : undefined;
  }
}
