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

/** Watches the resources that this process opens from the first call on, with their stacks, including unreferenced timers. */
export type OpenResources = {
  /** The number of resources created so far. */
  mark(): number;
  /** The stacks of resources that were created after the mark and are still open. */
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
