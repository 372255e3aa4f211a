import { fail, ok } from "@svc-gateway/common/values/result.ts";
import type { CaContent, CaStore } from "@svc-gateway/operator/discovery/ca-store.ts";

/** A store in memory that several keepers can share, as replicas share a Secret. */
export type MemoryCaStore = CaStore & {
  content(): CaContent | undefined;
  /** Someone else writes. */
  replace(content: CaContent | undefined): void;
  published(): string | undefined;
  /** While set, reads and writes fail. */
  setDown(isDown: boolean): void;
  readonly writes: readonly CaContent[];
};

export function createMemoryCaStore(initial?: CaContent): MemoryCaStore {
  const listeners = new Set<() => void>();
  const writes: CaContent[] = [];
  let content = initial;
  let published: string | undefined;
  let isDown = false;
  const put = (next: CaContent | undefined): void => {
    content = next;
    for (const listener of listeners) queueMicrotask(listener);
  };
  const unreachable = fail({ message: "the store does not answer" });
  return {
    read: () => Promise.resolve(isDown ? unreachable : ok(content)),
    write(next, expected) {
      if (isDown) return Promise.resolve(unreachable);
      if (content !== expected) return Promise.resolve(ok("conflict"));
      writes.push(next);
      put(next);
      return Promise.resolve(ok("written"));
    },
    publishTrust(bundlePem) {
      if (isDown) return Promise.resolve(unreachable);
      published = bundlePem;
      return Promise.resolve(ok(undefined));
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    content: () => content,
    replace: put,
    published: () => published,
    setDown: (down) => (isDown = down),
    writes,
  };
}
