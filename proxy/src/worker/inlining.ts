import { setFlagsFromString } from "node:v8";

/**
 * The most bytecode, in bytes, that V8 inlines into one optimised function; its default is 920. The path of a request is some
 * sixty small functions, most of which that default leaves as calls.
 */
const maxInlinedBytes = 3000;

/**
 * Lets the compiler put more functions into one (docs/adr/0036-inlining.md). Holds for the whole process, from the next function
 * that is optimised on. A version of V8 that does not know the setting ignores it, with a line on standard error.
 */
export function inlineMore(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${maxInlinedBytes}`);
}
