import { createHook } from "node:async_hooks";

/** The names in `async_hooks` of sockets, sessions, timers and threads. */
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

/** The resources that this process opens while it is watched, including unreferenced timers, with their stacks. */
export type OpenResources = {
  /** The number of resources created so far. */
  mark(): number;
  /** The stacks of resources that were created after the mark and are still open. */
  since(mark: number): readonly string[];
};

/** Starts to watch resources. `more` are additional kinds. */
export function watchOpenResources(...more: readonly string[]): OpenResources {
  const open = new Map<number, string>();
  createHook({
    init(id, kind) {
      if (!kinds.has(kind) && !more.includes(kind)) return;
      const { stack = "" } = new Error(kind);
      // The timer by which Node expires its cached date text is excluded.
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
