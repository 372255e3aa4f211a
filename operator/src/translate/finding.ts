import type { HostPattern, RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import type { ObjectRef } from "../api/object.ts";

/**
 * A finding about one object. `error`: a part of it is not served as written. `warning`: it is served, but
 * probably not as intended, or not for long. `info`: useful to explain a behaviour.
 */
export type Diagnostic = {
  readonly object: ObjectRef;
  readonly severity: "error" | "warning" | "info";
  /** Constant name of the finding, such as `ServiceNotFound`. See docs/reference/events.md, "Findings". */
  readonly reason: string;
  /** Path of the field that the finding is about, such as `spec.rules[0].host`. */
  readonly field?: string;
  /** One sentence for the author of the object. Never contains secret material. */
  readonly message: string;
  /** The severity for `check`, which knows all objects, if it differs. */
  readonly amongManifests?: "error";
};

/** A Kubernetes Event that the current state of the World requires. See docs/reference/events.md. */
export type DesiredEvent = {
  readonly object: ObjectRef;
  readonly type: "Normal" | "Warning";
  readonly reason:
    | "RouteConflict"
    | "InvalidAnnotation"
    | "ForeignAnnotation"
    | "ForeignController"
    | "InvalidObject"
    | "InternalPortRemapped"
    | "InternalPortRangeExhausted"
    | "PodTemplateSanitized"
    | "NotServed"
    | "BackendNotFound"
    | "CertificateNotUsable"
    | "HostTaken"
    | "MirrorDisabled"
    | "ParametersNotUsable"
    | "ReferenceNotPermitted";
  readonly message: string;
};

/**
 * A route that is not served because an older object claims the same host and path. See docs/routing.md, "Who
 * was first".
 */
export type Conflict = {
  readonly group: RouteGroup;
  /** The ports on which the host is served. */
  readonly ports: readonly number[];
  readonly host: HostPattern;
  readonly path: PathMatch;
  readonly loser: ObjectRef;
  readonly winner: ObjectRef;
  /** `namespace/name` of the Services that the losing route names, comma-separated; empty if it names none. */
  readonly rejectedServices: string;
};
