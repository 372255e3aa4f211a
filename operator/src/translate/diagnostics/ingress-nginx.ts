/** Findings about annotations of ingress-nginx. See docs/reference/events.md, "Findings". */
import type { Diagnostic } from "../finding.ts";
import { quote } from "../text.ts";
import { finding, type Place } from "./define-finding.ts";

/** Prefixes of names whose authors probably intended protection. */
const protectiveBeginning = /^(?:auth|limit|whitelist|deny|allow)/;

/**
 * `meant` is what the author probably meant: a similar name, or the key of ingress-nginx's ConfigMap with this name.
 */
export const unknownNginxAnnotation = (
  place: Place,
  key: string,
  name: string,
  meant: { readonly similar: string | undefined; readonly isConfigKey: boolean },
): Diagnostic =>
  (protectiveBeginning.test(name)
    ? finding("error", "UnknownNginxAnnotation")
    : finding("warning", "UnknownNginxAnnotation"))(
    place,
    `${quote(key)} is not an annotation of ingress-nginx${meant.isConfigKey ? `, but ${name} is a key of its ConfigMap` : didYouMean(meant.similar)}; it has no effect`,
  );

const didYouMean = (similar: string | undefined): string =>
  similar === undefined ? "" : ` (did you mean ${similar}?)`;

export const removedNginxAnnotation = (place: Place, name: string, instead: string): Diagnostic =>
  finding("warning", "RemovedNginxAnnotation")(
    place,
    `${quote(name)} has no effect in ingress-nginx 1.15 either. ${instead}`,
  );

export const noEffect = (place: Place, message: string, severity: "warning" | "error"): Diagnostic =>
  (severity === "error" ? finding("error", "NoEffect") : finding("warning", "NoEffect"))(place, message);

export const servedDifferently = (place: Place, message: string): Diagnostic =>
  finding("info", "ServedDifferently")(place, message);

export const protectionRefused = (place: Place, message: string): Diagnostic =>
  finding("error", "ProtectionRefused")(place, message);

/** An annotation that is not served. */
export const notSupported = (place: Place, message: string): Diagnostic =>
  finding("warning", "NotSupported")(place, message);

/** An annotation of ingress-nginx beside one of this gateway for the same setting. */
export const annotationOverridden = (place: Place, name: string, own: string): Diagnostic =>
  finding("warning", "AnnotationOverridden")(
    place,
    `${own} is about the same setting and takes precedence; ${name} has no effect`,
  );

/** A timeout of 0, which nginx applies literally. */
export const zeroTimeout = (place: Place, message: string): Diagnostic =>
  finding("warning", "ZeroTimeout")(place, message);

/** Backends whose certificates are not verified. */
export const backendNotVerified = (place: Place, message: string): Diagnostic =>
  finding("warning", "BackendNotVerified")(place, message);

/** Backends that would be connected to without verification, which the operator forbids. */
export const verificationRequired = (place: Place, message: string): Diagnostic =>
  finding("error", "BackendNotVerified")(place, message);

/** Backends that must be verified, without a name to verify. */
export const noVerifyName = (place: Place, message: string): Diagnostic =>
  finding("error", "NoVerifyName")(place, message);

/** A protocol of backends that is not supported. */
export const unsupportedProtocol = (place: Place, message: string): Diagnostic =>
  finding("error", "UnsupportedProtocol")(place, message);

/** Ciphers that cannot be chosen. */
export const ciphersFixed = (place: Place, message: string): Diagnostic =>
  finding("warning", "CiphersFixed")(place, message);

/** A statement of a snippet that is not executed. It is an error if the statement protects. */
export const snippetIgnored = (
  place: Place,
  name: string,
  message: string,
  severity: "warning" | "error",
): Diagnostic =>
  (severity === "error" ? finding("error", "SnippetIgnored") : finding("warning", "SnippetIgnored"))(
    place,
    `${name}: ${message}`,
  );

/** A statement of a snippet that is not needed. */
export const snippetNeedless = (place: Place, name: string, message: string): Diagnostic =>
  finding("info", "SnippetIgnored")(place, `${name}: ${message}`);

export const digestUnsupported = (place: Place, message: string): Diagnostic =>
  finding("error", "DigestUnsupported")(place, message);

/** `users` are the names for one message. */
export const weakHash = (place: Place, secret: string, users: string): Diagnostic =>
  finding("warning", "WeakHash")(
    place,
    `${secret} has password hashes that are fast to crack or none at all (expected bcrypt), of users ${users}`,
  );

/**
 * A list of ciphers of which none is offered, so that its author expects other clients than those that can connect.
 */
export const noCommonCipher = (place: Place, list: string): Diagnostic =>
  finding("error", "CiphersFixed")(
    place,
    `ssl-ciphers ${list} has no effect, and none of its ciphers is offered; clients need ECDHE with AES-GCM or ChaCha20`,
  );

export const catchAllRefused = (place: Place): Diagnostic =>
  finding("error", "CatchAllRefused")(
    place,
    "The Ingress asks for the requests of all unknown hosts, which --ingress-nginx-disable-catch-all refuses; its rules without a host and its default backend for them are not served",
  );

export const headLimit = (place: Place): Diagnostic =>
  finding("warning", "HeadLimit")(
    place,
    "proxy-buffer-size is more than 64k; a response with a larger head is answered 502",
  );

export const tracingUnsupported = (place: Place): Diagnostic =>
  finding("warning", "TracingUnsupported")(
    place,
    "enable-opentelemetry has no effect: proxies with --tracing-endpoint trace the requests of all Ingresses, or as tracing in the SvcIngressClassParameters of the class says",
  );

/** A key of the ConfigMap that is not served, or whose value cannot be read. */
export const configKeyIgnored = (place: Place, message: string): Diagnostic =>
  finding("warning", "ConfigKeyIgnored")(place, message);

export const configMapNotFound = (place: Place, message: string): Diagnostic =>
  finding("error", "ConfigMapNotFound")(place, message);

/**
 * `leases` are those that ingress-nginx renews. `writesStatus`: this gateway writes the status of the class's
 * Ingresses.
 */
export const foreignController = (place: Place, leases: string, writesStatus: boolean): Diagnostic =>
  finding("warning", "ForeignController")(
    place,
    `an ingress-nginx is running (it renews the Lease ${leases}) and may serve the Ingresses of the class as well; ${
      writesStatus
        ? "unless its --update-status is false, both write their status, and DNS records may change back and forth"
        : "their status is left to it (--ingress-nginx-update-status)"
    }`,
  );

/** Settings that protect less than they appear to. */
export const riskyConfig = (place: Place, message: string): Diagnostic =>
  finding("warning", "EveryPeerTrusted")(place, message);
/** A list of revoked certificates, which is not supported. */
export const revocationUnsupported = (place: Place, message: string): Diagnostic =>
  finding("error", "RevocationUnsupported")(place, message);

/** A cache of answers with a key that several clients share. */
export const sharedAuthCache = (place: Place, message: string): Diagnostic =>
  finding("error", "SharedAuthCache")(place, message);

/** Reported by `check` only: in a cluster, another object could serve the URL a moment later. */
export const authUrlNotServed = (
  place: Place,
  annotation: "auth-url" | "ext-auth",
  why: string,
): Diagnostic =>
  finding("error", "AuthUrlNotServed")(
    place,
    `${annotation}: ${why}; every request is refused with 500 or 503. Serve the URL by an Ingress, or name a Service`,
  );
