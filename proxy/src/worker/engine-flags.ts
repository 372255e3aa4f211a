import { setFlagsFromString } from "node:v8";

/**
 * V8 watches where objects are made that outlive a collection. While the young generation is still small, the requests
 * of the first busy moments do, and from then on it makes some parts of every request in the old generation, where
 * each keeps the rest of its request alive until a full collection: young collections take ten times as long.
 */
const collector = "--no-allocation-site-pretenuring";

/**
 * The most bytecode, in bytes, that V8 inlines into one optimised function; its default is 920. The path of a request is some
 * sixty small functions, most of which that default leaves as calls (docs/adr/0036-inlining.md).
 */
const inlining = "--max-inlined-bytecode-size-cumulative=3000";

/**
 * Sets V8 up for a proxy: many short requests, of which few are alive at a time. Holds for all threads of the process, from the next
 * function that is optimised and the next collection on. A version of V8 that does not know a flag ignores it, with a line on
 * standard error.
 *
 * Call it when the workers have loaded their modules and before traffic comes: code that Node.js keeps compiled is of no use to a
 * thread that starts under other flags, which costs that thread some 50 ms.
 */
export function setEngineFlags(): void {
  for (const flag of [collector, inlining]) setFlagsFromString(flag);
}
