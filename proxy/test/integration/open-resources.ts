import { createHook } from "node:async_hooks";

/** Sockets, sessions and timers, as `async_hooks` calls them. */
const kinds = new Set([
  "TCPWRAP",
  "TCPSERVERWRAP",
  "TLSWRAP",
  "UDPWRAP",
  "HTTP2SESSION",
  "HTTP2STREAM",
  "Timeout",
  "WORKER",
  "MESSAGEPORT",
]);

/** What this process has open and where that was made, from the first call on. Unreferenced timers are among it. */
export type OpenResources = {
  /** How many have been made so far. */
  mark(): number;
  /** What was made after the mark and is still there. */
  since(mark: number): readonly string[];
};

/** `more`: further kinds. */
export function watchOpenResources(...more: readonly string[]): OpenResources {
  const open = new Map<number, string>();
  createHook({
    init(id, kind) {
      if (!kinds.has(kind) && !more.includes(kind)) return;
      const { stack = "" } = new Error(kind);
      // Node's own text of the date is forgotten once a second.
      if (!stack.includes("utcDate")) open.set(id, stack);
    },
    destroy: (id) => void open.delete(id),
  }).enable();
  let last = 0;
  return {
    mark() {
      last = Math.max(last, ...open.keys());
      return last;
    },
    since: (mark) => [...open].filter(([id]) => id > mark).map(([, stack]) => stack),
  };
}
