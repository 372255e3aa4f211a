import { setFlagsFromString } from "node:v8";

/**
 * V8 records which allocation sites create objects that outlive a collection. While the young generation is still
 * small, objects of the first busy requests do. From then on V8 allocates parts of every request in the old generation,
 * where each keeps the rest of its request alive until a full collection, and young collections take ten times as long.
 */
const collector = "--no-allocation-site-pretenuring";

/**
 * The maximum bytecode that V8 inlines into one optimised function, in bytes; its default is 920. A request passes
 * through some sixty small functions, most of which are not inlined with that default (docs/adr/0036-inlining.md).
 */
const inlining = "--max-inlined-bytecode-size-cumulative=3000";

/**
 * Configures V8 for a proxy: many short requests, few of which are alive at the same time. The flags apply to all
 * threads of the process, from the next optimised function and the next collection on. A version of V8 that does not
 * know a flag ignores it, with a line on standard error.
 *
 * Call it after the workers have loaded their modules and before traffic arrives: a thread that starts under other
 * flags cannot use the compiled code that Node.js caches, which costs that thread some 50 ms.
 */
export function setEngineFlags(): void {
  for (const flag of [collector, inlining]) setFlagsFromString(flag);
}
