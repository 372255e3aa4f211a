import type { Priority } from "../priority.ts";

/** Priorities of streams that are not open yet (RFC 9218 7.1), until they are, or a later stream is opened instead. */
export class EarlyPriorities {
  private known: Map<number, Priority> | undefined = undefined;

  /** False: there are `most` already, and this is another stream. */
  add(streamId: number, priority: Priority, most: number): boolean {
    this.known ??= new Map();
    if (this.known.size >= most && !this.known.has(streamId)) return false;
    this.known.set(streamId, priority);
    return true;
  }

  /** The stream is opened. Those below it never will be (RFC 9113 5.1.1). */
  take(streamId: number): Priority | undefined {
    const { known } = this;
    if (known === undefined) return undefined;
    const priority = known.get(streamId);
    for (const id of known.keys()) if (id <= streamId) known.delete(id);
    if (known.size === 0) this.known = undefined;
    return priority;
  }
}
