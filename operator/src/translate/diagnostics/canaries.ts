/** Findings about Ingresses that take a part of the requests of another one. See docs/features/canary.md. */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** A canary whose host, path and path type are those of no other Ingress. */
export const canaryWithoutPrimary = (place: Place, host: string, path: string): Diagnostic =>
  finding("warning", "CanaryWithoutPrimary")(
    place,
    `No Ingress that is not a canary serves path ${quote(path)} of this type on host ${host}, so the canary gets no request`,
  );

/** A canary of what another namespace serves. */
export const canaryOfOtherNamespace = (
  place: Place,
  host: string,
  path: string,
  primary: string,
): Diagnostic =>
  finding("warning", "CanaryOfOtherNamespace")(
    place,
    `Path ${quote(path)} on host ${host} is served by ${primary}; a canary gets requests of its own namespace only, so this one gets none`,
  );

/** A canary beside one that precedes it. */
export const secondCanary = (place: Place, host: string, path: string, first: string): Diagnostic =>
  finding("warning", "SecondCanary")(
    place,
    `Path ${quote(path)} on host ${host} already has the canary ${first}; of several canaries only the first by age and name gets requests`,
  );

/** An annotation that does nothing on a canary, or on an Ingress that is none. */
export const canaryAnnotationIgnored = (place: Place, key: string, why: string): Diagnostic =>
  finding("warning", "CanaryAnnotationIgnored")(place, `${key}: ${why}`);
