import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type {
  ClientCertPort,
  ClientRules,
  ClientValidation,
  RequestVerdict,
} from "@svc-gateway/common/ir/client-certificate.ts";
import { compileRegex } from "@svc-gateway/common/values/regex.ts";

/** The rules of a server name for client certificates, with resolved authorities. Equal `id` means equal rules. */
export type ClientPolicy = {
  readonly id: string;
  /** The owner of the rules; undefined if the controller does not send it. */
  readonly owner: string | undefined;
  readonly mode: ClientValidation["mode"];
  /** Whether the result of the verification is judged per request instead of in the handshake. */
  readonly deferred: boolean;
  /** The authorities as PEM certificates; empty if no client is admitted. */
  readonly authorities: readonly string[];
  readonly maxIntermediates: number;
  readonly forward: boolean;
};

const pemCertificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Resolves the authorities that an entry names. */
export function createClientPolicy(
  {
    owner,
    mode,
    authorities,
    maxIntermediates = Number.POSITIVE_INFINITY,
    forward,
    deferred,
  }: ClientValidation,
  port: ClientCertPort,
): ClientPolicy {
  const pem = authorities === undefined ? "" : (port.authorities[authorities] ?? "");
  return {
    id: idOf(deferred === true ? "deferred" : mode, authorities, maxIntermediates),
    owner,
    mode,
    deferred: deferred === true,
    authorities: pem.match(pemCertificate) ?? [],
    maxIntermediates,
    forward,
  };
}

const idOf = (
  mode: ClientPolicy["mode"] | "deferred",
  authorities: string | undefined,
  maxIntermediates: number,
): string => `${mode} ${authorities ?? "none"} ${maxIntermediates}`;

/** The rules of a host or route for the connections of its requests, prepared for comparison. */
export type DemandedRules = {
  readonly owner: string;
  /** The id of policies with equal rules; undefined if no connection fulfils the rules. */
  readonly policyId: string | undefined;
  readonly forward: boolean;
  /** The treatment of requests of unverified clients; undefined if the handshake refuses such clients. */
  readonly byRequest: CompiledVerdict | undefined;
};

/** A verdict with its regular expression compiled. */
export type CompiledVerdict = {
  readonly mode: RequestVerdict["mode"];
  readonly matches: ((subject: string) => boolean) | undefined;
  readonly errorPage: string | undefined;
};

function compileVerdict({ mode, subject, errorPage }: RequestVerdict): CompiledVerdict {
  const regex = subject === undefined ? undefined : compileRegex(subject, { whole: false });
  // A regular expression that cannot be compiled matches no client.
  const matches = regex && ((text: string): boolean => regex.ok && regex.value.test(text));
  return { mode, matches, errorPage };
}

export const demandedRules = ({
  owner,
  authorities,
  maxIntermediates = Number.POSITIVE_INFINITY,
  forward,
  byRequest,
}: ClientRules): DemandedRules => ({
  owner,
  policyId:
    authorities === undefined
      ? undefined
      : idOf(byRequest === undefined ? "require" : "deferred", authorities, maxIntermediates),
  forward: forward === true,
  byRequest: byRequest && compileVerdict(byRequest),
});

/**
 * Reports whether a client that was verified by `proven` in its handshake fulfils the rules. It does so if `proven` has
 * the same owner, or equal rules. A client therefore stays admitted when the owner changes its rules, unless they no
 * longer admit any client.
 */
export const isProvenBy = (proven: ClientPolicy | undefined, rules: DemandedRules): boolean =>
  proven !== undefined &&
  (rules.byRequest === undefined ? proven.mode === "require" : proven.deferred) &&
  rules.policyId !== undefined &&
  (proven.owner === rules.owner || proven.id === rules.policyId);

/**
 * Returns the reason for refusing a client, as the number of its TLS alert (RFC 8446 6.2); undefined if it is admitted.
 * OpenSSL has verified the chain, with every authority as a trust anchor. The limit of its length is checked here,
 * because Node has none. `presented` are the certificates that the client sent besides its own.
 */
export function refusalOf(
  socket: TLSSocket,
  presented: readonly X509Certificate[],
  policy: ClientPolicy,
): number | undefined {
  if (policy.mode === "optional") return undefined;
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) {
    return socket.getProtocol() === "TLSv1.3" ? alerts.certificateRequired : alerts.handshakeFailure;
  }
  if (!socket.authorized) return alertOf(socket.authorizationError);
  if (!Number.isFinite(policy.maxIntermediates)) return undefined;
  const anchors = policy.authorities.map((pem) => new X509Certificate(pem));
  const isShort = hasShortPath(leaf, presented, anchors, policy.maxIntermediates);
  return isShort ? undefined : alerts.unknownCa;
}

const alerts = {
  handshakeFailure: 40,
  badCertificate: 42,
  certificateExpired: 45,
  unknownCa: 48,
  certificateRequired: 116,
} as const;

/** Returns the result of a verification that is judged per request: `SUCCESS`, `NONE` or `FAILED:` with the reason. */
export function verificationOf(
  socket: TLSSocket,
  presented: readonly X509Certificate[],
  policy: ClientPolicy,
): string {
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return "NONE";
  if (!socket.authorized) {
    return `FAILED:${String(socket.authorizationError)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, " ")}`;
  }
  if (!Number.isFinite(policy.maxIntermediates)) return "SUCCESS";
  const anchors = policy.authorities.map((pem) => new X509Certificate(pem));
  return hasShortPath(leaf, presented, anchors, policy.maxIntermediates)
    ? "SUCCESS"
    : "FAILED:certificate chain too long";
}

/** Maps an OpenSSL error, which Node reports by name, to an alert. */
function alertOf(reason: unknown): number {
  switch (String(reason)) {
    case "CERT_HAS_EXPIRED":
      return alerts.certificateExpired;
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "CERT_UNTRUSTED":
      return alerts.unknownCa;
    default:
      return alerts.badCertificate;
  }
}

/**
 * Reports whether a path from a certificate to an authority has at most `max` certificates in between. Of several
 * paths, the shortest counts, which OpenSSL prefers as well.
 */
export function hasShortPath(
  leaf: X509Certificate,
  presented: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
  max: number,
): boolean {
  if (anchors.some(({ fingerprint256 }) => fingerprint256 === leaf.fingerprint256)) return true;
  const nowMs = Date.now();
  let reached: readonly X509Certificate[] = [leaf];
  const seen = new Set([leaf.fingerprint256]);
  for (let between = 0; between <= max && reached.length > 0; between++) {
    if (reached.some((certificate) => anchors.some((anchor) => isIssuer(anchor, certificate, nowMs)))) {
      return true;
    }
    const next: X509Certificate[] = [];
    for (const candidate of presented) {
      if (seen.has(candidate.fingerprint256)) continue;
      if (!reached.some((certificate) => isIssuer(candidate, certificate, nowMs))) continue;
      seen.add(candidate.fingerprint256);
      next.push(candidate);
    }
    reached = next;
  }
  return false;
}

/** Reports whether a currently valid authority issued a certificate, by its name and its signature (RFC 5280 6.1). */
function isIssuer(issuer: X509Certificate, certificate: X509Certificate, nowMs: number): boolean {
  return (
    issuer.ca &&
    issuer.validFromDate.getTime() <= nowMs &&
    nowMs <= issuer.validToDate.getTime() &&
    certificate.checkIssued(issuer) &&
    certificate.verify(issuer.publicKey)
  );
}
