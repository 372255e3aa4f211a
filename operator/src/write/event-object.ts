import { createHash } from "node:crypto";

/** A message about an object, for a Kubernetes Event (docs/reference/events.md). */
export type ObjectEvent = {
  readonly regarding: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace?: string;
    readonly name: string;
    readonly uid?: string;
  };
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
};

/** The reporter of an Event: the controller and the pod in which it runs. */
export type EventSource = { readonly controller: string; readonly instance: string };

/** The limit of `note` in `events.k8s.io/v1`, in bytes. */
const maxNoteBytes = 1024;
/** The length of the object's name in the name of the Event, which leaves room for the hash within 253 characters. */
const maxNamePrefix = 200;

/** The namespace and name of the single Event for this object, reason and message, equal on all replicas. */
export function eventKey(event: ObjectEvent): { readonly namespace: string; readonly name: string } {
  const { regarding, type, reason, message } = event;
  const { apiVersion, kind, namespace = "", name, uid = "" } = regarding;
  const identity = JSON.stringify([apiVersion, kind, namespace, name, uid, type, reason, message]);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  const prefix = name.slice(0, maxNamePrefix).replace(/[^a-z0-9]+$/, "");
  return { namespace: eventNamespace(event), name: `${prefix}.${hash}` };
}

/**
 * The namespace of an Event. Events about objects without a namespace are stored in `default`: the API server accepts
 * no other.
 */
export const eventNamespace = ({ regarding }: ObjectEvent): string => regarding.namespace ?? "default";

/** The Event at its creation, with its first occurrence and without a series. */
export function eventObject(event: ObjectEvent, source: EventSource, nowMs: number): object {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: eventKey(event),
    eventTime: microTime(nowMs),
    reportingController: source.controller,
    reportingInstance: source.instance.slice(0, 128),
    action: "Reconcile",
    reason: event.reason,
    regarding: event.regarding,
    note: cutToBytes(event.message, maxNoteBytes),
    type: event.type,
  };
}

/** The merge patch for a repeated occurrence; `count` is at least 2. */
export const seriesPatch = (count: number, nowMs: number): object => ({
  series: { count, lastObservedTime: microTime(nowMs) },
});

/** The part of a stored Event that is read. */
export type StoredEvent = {
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string } | null;
};

/** Returns the number of occurrences of an Event and the time of the last one (milliseconds since 1970). */
export function readSeries({ eventTime, series }: StoredEvent): {
  readonly count: number;
  readonly atMs: number;
} {
  const atMs = Date.parse(series?.lastObservedTime ?? eventTime ?? "");
  return { count: Math.max(1, series?.count ?? 1), atMs: Number.isNaN(atMs) ? 0 : atMs };
}

/** Formats a time as RFC 3339 with microseconds, as `MicroTime` requires. */
const microTime = (timeMs: number): string => new Date(timeMs).toISOString().replace("Z", "000Z");

/** Truncates a text to a number of bytes, never inside a character. */
function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, "utf8");
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${bytes.toString("utf8", 0, end)}…`;
}
