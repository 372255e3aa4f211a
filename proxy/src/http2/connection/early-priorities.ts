import type { Priority } from "../priority.ts";

/** Priorities of streams that are not open yet (RFC 9218 7.1), kept until that stream or a later one is opened. */
export class EarlyPriorities {
  private known: Map<number, Priority> | undefined = undefined;

  /** Adds or replaces a priority; returns false if `most` other streams already have one. */
  add(streamId: number, priority: Priority, most: number): boolean {
    this.known ??= new Map();
    if (this.known.size >= most && !this.known.has(streamId)) return false;
    this.known.set(streamId, priority);
    return true;
  }

  /** Removes and returns the priority of a stream that is opened; lower ones never will be (RFC 9113 5.1.1). */
  take(streamId: number): Priority | undefined {
    const { known } = this;
    if (known === undefined) return undefined;
    const priority = known.get(streamId);
    for (const id of known.keys()) if (id <= streamId) known.delete(id);
    if (known.size === 0) this.known = undefined;
    return priority;
  }
}
