import { setFlagsFromString } from "node:v8";

/**
 * The most bytecode that V8 puts together in one optimised function; 920 unless it is told otherwise. Taking a request through
 * the proxy is some sixty small functions, which then stay calls.
 */
const maxInlinedBytes = 3000;

/**
 * Lets the compiler put more functions into one (docs/adr/0036-inlining.md). Holds for the whole process, from the next function
 * that is optimised on. A version of V8 that does not know the setting ignores it, with a line on standard error.
 */
export function inlineMore(): void {
  setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${maxInlinedBytes}`);
}
