import type { ObjectEvent } from "./event-object.ts";

/** The largest number of Events for one reason and object. */
export const maxEventsOfObject = 100;

/**
 * Creates a function that keeps the first hundred Events of each object and reason, and one more with the number of the
 * others: thousands of Events are unreadable and would delay those of other objects. See docs/controller.md, "Events".
 */
export function createEventCap(): (events: readonly ObjectEvent[]) => readonly ObjectEvent[] {
  /** The summaries by content, so that an equal summary is the same value from one build to the next. */
  let summaries = new Map<string, ObjectEvent>();
  return (events) => {
    if (events.length <= maxEventsOfObject) return events;
    const counts = new Map<string, number>();
    const next: typeof summaries = new Map();
    const kept: ObjectEvent[] = [];
    const others = new Map<string, { readonly event: ObjectEvent; count: number }>();
    for (const event of events) {
      const { kind, namespace = "", name } = event.regarding;
      const key = `${event.reason} ${kind} ${namespace}/${name}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count <= maxEventsOfObject) kept.push(event);
      else others.set(key, { event, count: count - maxEventsOfObject });
    }
    for (const [key, { event, count }] of others) {
      const id = `${key} ${count} ${event.regarding.uid}`;
      const summary = summaries.get(id) ?? { ...event, message: moreOf(count) };
      next.set(id, summary);
      kept.push(summary);
    }
    summaries = next;
    return kept;
  };
}

const moreOf = (count: number): string =>
  `${count} more findings with this reason; only the first ${maxEventsOfObject} of an object get an Event each`;
