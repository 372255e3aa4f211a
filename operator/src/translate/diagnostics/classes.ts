/** Findings about IngressClasses and their parameters. */
import type { Problem } from "@svc-gateway/common/values/result.ts";
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { errorAmongManifests, failed, finding, type Place } from "./define-finding.ts";
import { protectionUnavailable } from "./references.ts";

/** `hint` suggests a class that is probably meant. */
export const ingressClassNotFound = (place: Place, name: string, hint: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "IngressClassNotFound")(
      place,
      `IngressClass ${quote(name)} does not exist${hint}; the Ingress is not served`,
    ),
  );

/** In a cluster, the Ingress can belong to another controller; for manifests, there is no other controller. */
export const noIngressClass = (place: Place): Diagnostic =>
  errorAmongManifests(
    finding("info", "NoIngressClass")(
      place,
      "The Ingress names no class and no IngressClass of this gateway is the default class; the Ingress is not served",
    ),
  );

/** A finding about parameters that can contain protections. */
export const invalidClassParameters = (place: Place, why: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "InvalidClassParameters")(
      place,
      `${why}; the class has no defaults, and with --class-parameters-strict every request to its Ingresses would be answered 503`,
    ),
  );

export const classClosed = (place: Place): Diagnostic =>
  protectionUnavailable(
    place,
    "The parameters of the class, which may protect its routes, cannot be used",
    "every request is answered 503",
  );

/** A finding about a default that its routes are served without. */
export const invalidClassDefault = (place: Place, problem: Problem): Diagnostic =>
  errorAmongManifests(
    failed("warning", "InvalidClassDefault", "the built-in default applies")(place, problem),
  );
