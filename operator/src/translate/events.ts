/** The Kubernetes Events that a translation calls for, one constructor each. See docs/reference/events.md. */
import type { ObjectRef } from "../api/object.ts";
import { oneLine } from "./text.ts";
import type { DesiredEvent } from "./translation.ts";

export const routeConflictEvent = (object: ObjectRef, message: string): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "RouteConflict",
  message: oneLine(message),
});

/** `message` is `<annotation>: <message>`. */
export const invalidAnnotationEvent = (object: ObjectRef, message: string): DesiredEvent => ({
  object,
  type: "Warning",
  reason: "InvalidAnnotation",
  message: oneLine(message),
});
