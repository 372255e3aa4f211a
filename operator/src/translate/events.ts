/** The Kubernetes Events that a translation requests, with one constructor each. See docs/reference/events.md. */
import type { ObjectRef } from "../api/object.ts";
import type { DesiredEvent } from "./finding.ts";
import { oneLine } from "./text.ts";

export const routeConflictEvent = (object: ObjectRef, message: string): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "RouteConflict",
  message: oneLine(message),
});

export const internalPortRemapped = (
  object: ObjectRef,
  port: number,
  before: number,
  after: number,
): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "InternalPortRemapped",
  message: `Listener port ${port} moved from internal port ${before} to ${after}`,
});

export const internalPortRangeExhausted = (
  object: ObjectRef,
  listeners: readonly string[],
): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "InternalPortRangeExhausted",
  message: oneLine(`No free internal port in 30000-32767 for listeners ${listeners.join(", ")}`),
});

export const podTemplateSanitized = (object: ObjectRef, ignored: readonly string[]): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "PodTemplateSanitized",
  message: oneLine(`Ignored podTemplate fields: ${ignored.join(", ")}`),
});

/** An object, or its routes, are not served. */
export const notServed = (object: ObjectRef, message: string): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "NotServed",
  message: oneLine(message),
});

/** `message` is `<annotation>: <message>`. */
export const invalidAnnotationEvent = (object: ObjectRef, message: string): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "InvalidAnnotation",
  message: oneLine(message),
});

/**
 * An Ingress of this gateway has annotations of other controllers. `message` names them and the effects that
 * are missing.
 */
export const foreignAnnotationsEvent = (object: ObjectRef, message: string): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "ForeignAnnotation",
  message: oneLine(message),
});
