/** Findings about Ingresses that receive a part of the requests of another Ingress. See docs/features/canary.md. */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** A canary without an Ingress that has the same host, path and path type. */
export const canaryWithoutPrimary = (place: Place, host: string, path: string): Diagnostic =>
  finding("warning", "CanaryWithoutPrimary")(
    place,
    `No Ingress that is not a canary serves path ${quote(path)} of this type on host ${host}, so the canary gets no request`,
  );

/** A canary for a path that another namespace serves. */
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

/** A canary for a path that already has an older one. */
export const secondCanary = (place: Place, host: string, path: string, first: string): Diagnostic =>
  finding("warning", "SecondCanary")(
    place,
    `Path ${quote(path)} on host ${host} already has the canary ${first}; of several canaries only the first by age and name gets requests`,
  );

/** An annotation that has no effect on a canary, or on an Ingress that is not a canary. */
export const canaryAnnotationIgnored = (place: Place, key: string, why: string): Diagnostic =>
  finding("warning", "CanaryAnnotationIgnored")(place, `${key}: ${why}`);
