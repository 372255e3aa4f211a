/** Findings about objects that take too much of a snapshot or of memory. See docs/routing.md, "Size". */
import type { Diagnostic } from "../finding.ts";
import { sharedScope, type LeftOutObject } from "../size/object-size.ts";
import { finding, type Place } from "./define-finding.ts";

/** `answer` is the status with which requests are answered instead. */
export const routesTooLarge = (place: Place, maxBytes: number, answer: number): Diagnostic =>
  finding("error", "RoutesTooLarge")(
    place,
    `${describeTooLarge(maxBytes)}; all their requests are answered ${answer}`,
  );

export const describeTooLarge = (maxBytes: number): string =>
  `The routes take more than ${maxBytes / 1_048_576} MiB, counting settings that several paths, hosts or listeners share once for each of them`;

export const tooManyCertificates = (place: Place, maxBytes: number): Diagnostic =>
  finding("error", "CertificatesTooLarge")(
    place,
    `The certificates of the listeners take more than ${maxBytes / 1_048_576} MiB, counting each on every port; none of them is served`,
  );

/** The routes of an object are not served, because the snapshot is full. */
export const snapshotFull = (place: Place, what: LeftOutObject): Diagnostic => {
  const { message, consequence } = describeLeftOut(what);
  return finding("error", "SnapshotFull")(place, `${message}; ${consequence}`);
};

export function describeLeftOut({ object, level, scope, bytes }: LeftOutObject): {
  readonly message: string;
  readonly consequence: string;
} {
  const isRoutes = object.kind !== "Gateway" && object.kind !== "ListenerSet";
  const proxies = scope === sharedScope ? "the shared proxies" : `Gateway ${scope}`;
  return {
    message: `The snapshot of ${proxies} is full, and namespace ${object.namespace ?? ""} takes the most space in it (${isRoutes ? "these routes" : "these certificates"}: ${Math.max(1, Math.round(bytes / 1024))} KiB)`,
    consequence: !isRoutes
      ? "they are not served"
      : {
          1: "all their requests are answered 503",
          2: "requests to their hosts that no other route matches are answered 503",
          3: "none of them is served",
        }[level],
  };
}

/**
 * The object is not kept, because it is among the newest of a namespace that takes too much of a controller's
 * memory.
 */
export const namespaceTooLarge = (place: Place): Diagnostic =>
  finding("error", "NamespaceTooLarge")(
    place,
    `The objects of namespace ${place.object.namespace ?? ""} take more of the controller's memory than one namespace may; this object is among the newest and is ignored, as if it did not exist`,
  );

export const endpointsLeftOut = (place: Place, why: string): Diagnostic =>
  finding("error", "EndpointsLeftOut")(place, why);

/** With `full`, the endpoints of all Services take more than `maxBytes`; without it, those of this Service do. */
export function describeEndpointsLeftOut(
  maxBytes: number,
  full?: { readonly namespace: string; readonly bytes: number },
): string {
  const limit = `${maxBytes / 1_048_576} MiB`;
  const why =
    full === undefined
      ? `The endpoints of the Service take more than ${limit}, counting each at every port that is used`
      : `The endpoints of all Services take more than ${limit}, and namespace ${full.namespace} takes the most of it (this Service: ${Math.max(1, Math.round(full.bytes / 1024))} KiB), counting each at every port that is used`;
  return `${why}; none of them is used: requests to the Service are answered 503, connections reset, datagrams dropped`;
}
