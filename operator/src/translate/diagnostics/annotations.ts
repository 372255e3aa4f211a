/** Findings about annotations of Ingresses. */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { errorAmongManifests, finding, type Place } from "./define-finding.ts";
import { protectionUnavailable } from "./references.ts";

export const invalidAnnotation = (place: Place, message: string): Diagnostic =>
  finding("error", "InvalidAnnotation")(place, message);

export const annotationWarning = (place: Place, message: string): Diagnostic =>
  finding("warning", "AnnotationPartlyIgnored")(place, message);

export const riskyAnnotation = (place: Place, message: string): Diagnostic =>
  finding("warning", "RiskyAnnotation")(place, message);

export const everyPeerTrusted = (place: Place, header: string): Diagnostic =>
  finding("warning", "EveryPeerTrusted")(
    place,
    `Header ${quote(header)} is trusted from every peer, so clients can spoof their address; forwarded-for-trusted-cidrs limits the trust to proxies`,
  );

export const defaultVerifyDepth = (place: Place): Diagnostic =>
  finding("warning", "DefaultVerifyDepth")(
    place,
    "auth-tls-verify-depth is not set and defaults to 1, so clients whose certificate was issued by an intermediate CA are rejected",
  );

export const clientSettingWithoutSecret = (place: Place): Diagnostic =>
  finding("error", "InvalidAnnotation")(
    place,
    "auth-tls-secret is not set, so clients are not asked for a certificate and this annotation has no effect",
  );

export const authTlsWithoutHosts = (place: Place): Diagnostic =>
  protectionUnavailable(
    place,
    "spec.tls names no host, so no handshake asks clients for a certificate",
    "every request is answered 503",
  );

export const authTlsHostNotListed = (place: Place, host: string): Diagnostic =>
  protectionUnavailable(
    place,
    `Host ${host} is not listed in spec.tls, so no handshake for it asks clients for a certificate by these rules`,
    "its HTTPS requests are answered 421",
  );

export const unknownAnnotation = (place: Place, key: string): Diagnostic =>
  finding("warning", "UnknownAnnotation")(
    place,
    `${quote(key)} is not an annotation of this gateway; it has no effect`,
  );

/** A finding about a key that is similar to that of an annotation, whose effect is missing. */
export const misspeltAnnotation = (place: Place, key: string, meant: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "UnknownAnnotation")(
      place,
      `${quote(key)} is not an annotation of this gateway (did you mean ${meant}?); it has no effect`,
    ),
  );

/** A finding about a key that a resource has replaced. */
export const removedAnnotation = (place: Place, key: string, replacement: string): Diagnostic =>
  errorAmongManifests(
    finding("warning", "UnknownAnnotation")(
      place,
      `${quote(key)} was removed, expected ${replacement}; it has no effect`,
    ),
  );

/** Facts about an annotation of another controller. */
export type ForeignKey = {
  readonly key: string;
  readonly controller: string;
  /** The protection that is missing without it; undefined if it protects nothing. */
  readonly missing: string | undefined;
  /** The annotation of this gateway with the same name; undefined if there is none. */
  readonly own: string | undefined;
  /** The way in which it can take effect; undefined if there is none. */
  readonly hint: string | undefined;
};

const withoutEffect = finding("warning", "ForeignAnnotation");
const withoutProtection = finding("error", "ForeignAnnotation");

/**
 * A finding about an annotation of another controller. It is an error if routes are served without its protection.
 */
export function foreignAnnotation(
  place: Place,
  { key, controller, missing, own, hint }: ForeignKey,
): Diagnostic {
  const what = `${quote(key)} is an annotation of ${controller} and has no effect on this Ingress`;
  const ofGateway = own === undefined ? "" : `; the annotation of this gateway is ${own}`;
  const meant = hint === undefined ? ofGateway : `${ofGateway}; ${hint}`;
  return missing === undefined
    ? withoutEffect(place, `${what}${meant}`)
    : withoutProtection(place, `${what}: ${missing}${meant}`);
}

export const moreForeignAnnotations = (place: Place, count: number): Diagnostic =>
  withoutEffect(place, `${count} more annotations of other controllers have no effect on this Ingress`);
