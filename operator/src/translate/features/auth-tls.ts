import { authTls, type SubjectRule, type VerifyClient } from "@svc-gateway/common/features/auth-tls.ts";
import type { RequestVerdict } from "@svc-gateway/common/ir/client-certificate.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { orHasNoAuthorityLabel, readClientAuthorities } from "../certificates/authorities.ts";
import { clientSettingWithoutSecret, defaultVerifyDepth } from "../diagnostics/annotations.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { protectionUnavailable } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveProtection } from "./reference.ts";

/** The client certificates that an Ingress requests on its TLS hosts. */
export type AuthTls = {
  /** The authorities as PEM; undefined if the Secret is missing or unusable, in which case no client is admitted. */
  readonly authorities: string | undefined;
  readonly maxIntermediates: number;
  readonly forward: boolean;
  /**
   * The verdict for requests of clients that were not verified, which are answered over HTTP. If absent, their
   * handshakes fail.
   */
  readonly byRequest?: RequestVerdict;
};

const {
  authTlsSecret,
  authTlsVerifyClient,
  authTlsVerifyDepth,
  authTlsPassCertificateToUpstream,
  authTlsErrorPage,
  authTlsMatchSubject,
} = authTls.annotations;

/**
 * The client certificates that the annotations request; undefined for none. If the Secret cannot be used, no
 * client is admitted (docs/features/auth-tls.md).
 */
export function translateAuthTls(read: AnnotationReader, context: FeatureContext): AuthTls | undefined {
  // Read in any case, because an invalid value is reported even if it has no effect.
  const depth = read(authTlsVerifyDepth);
  const forward = read(authTlsPassCertificateToUpstream) ?? false;
  const word = read(authTlsVerifyClient) ?? "on";
  const subject = read(authTlsMatchSubject);
  const verdict = readVerdict(word, subject, read, context);
  if (!context.hasAnnotation(authTlsSecret.name)) {
    for (const annotation of ofRequests) {
      if (context.hasAnnotation(annotation.name))
        context.reportWithEvent(annotation, clientSettingWithoutSecret);
    }
    return undefined;
  }
  if (word === "off") return undefined;
  const authorities = readAuthorities(read, context);
  if (authorities !== undefined && !context.hasAnnotation(authTlsVerifyDepth.name)) {
    context.report(authTlsVerifyDepth, defaultVerifyDepth);
  }
  return {
    authorities: subject !== undefined && subject.pattern === undefined ? undefined : authorities,
    maxIntermediates: (depth ?? 1) - 1,
    forward,
    ...(verdict && { byRequest: verdict }),
  };
}

/** Annotations with which clients are rejected by answers to requests instead of in handshakes. */
const ofRequests = [authTlsVerifyClient, authTlsErrorPage, authTlsMatchSubject];

function readVerdict(
  word: VerifyClient,
  subject: SubjectRule | undefined,
  read: AnnotationReader,
  { hasAnnotation }: FeatureContext,
): RequestVerdict | undefined {
  const errorPage = read(authTlsErrorPage);
  if (!ofRequests.some(({ name }) => hasAnnotation(name))) return undefined;
  return {
    mode: word === "off" ? "on" : word,
    ...(subject?.pattern !== undefined && { subject: subject.pattern }),
    ...(errorPage !== undefined && { errorPage }),
  };
}

function readAuthorities(read: AnnotationReader, context: FeatureContext): string | undefined {
  const secret = resolveProtection("Secret", authTlsSecret, read, context, orHasNoAuthorityLabel);
  if (secret === undefined || typeof secret === "string") return undefined;
  const authorities = readClientAuthorities(secret);
  if (authorities.ok) return authorities.value;
  const why = `Secret ${formatNamespacedName(secret.metadata)}: ${describeProblem(authorities.error)}`;
  context.reportWithEvent(authTlsSecret, (place) =>
    protectionUnavailable(place, why, authTlsSecret.fallback),
  );
  return undefined;
}
