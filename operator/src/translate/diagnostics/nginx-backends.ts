/** Findings about sessions and canaries of Ingresses of ingress-nginx. See docs/reference/events.md, "Findings". */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** A session cookie for a path that is a regular expression, which no browser can compare. */
export const cookiePathExpression = (place: Place, path: string): Diagnostic =>
  finding("warning", "CookiePathExpression")(
    place,
    `Path ${quote(path)} is a regular expression, which is no Path for a cookie; / is used, expected session-cookie-path`,
  );

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

/** A canary beside an older one. */
export const secondCanary = (place: Place, host: string, path: string, first: string): Diagnostic =>
  finding("warning", "SecondCanary")(
    place,
    `Path ${quote(path)} on host ${host} has the older canary ${first}; of several canaries only the oldest gets requests`,
  );
