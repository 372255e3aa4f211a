import { status } from "@grpc/grpc-js";
import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import { isObjectName } from "@svc-gateway/common/values/namespaced-name.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import {
  formatIdentity,
  identityOfNames,
  isSameIdentity,
  type WorkloadIdentity,
  type WorkloadPod,
} from "@svc-gateway/proto/identity.ts";
import { wireVersion } from "@svc-gateway/proto/wire.ts";
import { readScope, type ProxyMessage } from "./client-messages.ts";
import { fieldsBeyond } from "./known-fields.ts";
import { podOfSubject, type CertificateSubject } from "./pod-attributes.ts";
import { scopeKey, type ExpectedPrincipals } from "./principals.ts";
import type { SnapshotCache } from "./snapshot-cache.ts";

/** The end of a stream whose proxy is not admitted or violates the protocol. */
export type StreamRefusal = {
  readonly code: status;
  readonly message: string;
  readonly principal?: string;
};

/** The fields of a peer's certificate that a stream needs. */
export type PeerCertificate = {
  readonly subject?: CertificateSubject;
  readonly subjectaltname?: string | undefined;
  readonly valid_to: string;
};

/** A proxy that is authorized for its scope. */
export type AdmittedProxy = {
  readonly nodeId: string;
  readonly scope: ProxyScope;
  readonly identity: WorkloadIdentity;
  /** The pod; undefined for a certificate that was issued without one. */
  readonly pod: WorkloadPod | undefined;
  readonly certificateEndsMs: number;
  /** Whether the proxy accepts updates in parts. */
  readonly takesParts: boolean;
  /** Fields of resources that controllers of this release send and that the proxy drops. */
  readonly unknownFields: readonly string[];
};

export type StreamAdmissionOptions = {
  readonly trustDomain: string;
  readonly principals: ExpectedPrincipals;
  readonly cache: SnapshotCache;
};

/**
 * Decides about the first message of a stream: the wire version, the form of the message, whether this replica knows
 * the world yet, and whether the certificate belongs to the scope's service account. See docs/discovery.md, "Stream".
 */
export function admitProxy(
  { trustDomain, principals, cache }: StreamAdmissionOptions,
  message: ProxyMessage,
  certificate: PeerCertificate | undefined,
): Result<AdmittedProxy, StreamRefusal> {
  if (message.kind !== "subscribe") return refuse(status.INVALID_ARGUMENT, "expected Subscribe first");
  if (message.wireVersion !== wireVersion) {
    const text = `wire version ${message.wireVersion} is not supported, only ${wireVersion}`;
    return refuse(status.FAILED_PRECONDITION, text);
  }
  if (!isObjectName(message.nodeId))
    return refuse(status.INVALID_ARGUMENT, "node_id is not the name of a pod");
  const scope = readScope(message.scope);
  if (scope === undefined) return refuse(status.INVALID_ARGUMENT, "the scope is missing or malformed");
  const identity = identityOfNames(trustDomain, certificate?.subjectaltname);
  if (certificate === undefined || identity === undefined) {
    return refuse(status.PERMISSION_DENIED, "the certificate names no workload of this trust domain");
  }
  const principal = formatIdentity(identity);
  const pod = podOfSubject(certificate.subject);
  if (pod !== undefined && pod.name !== message.nodeId) {
    const text = `the certificate was issued to pod ${pod.name}, not to ${message.nodeId}`;
    return refuse(status.PERMISSION_DENIED, text, principal);
  }
  if (!cache.isListed()) return refuse(status.UNAVAILABLE, "this replica is not ready yet", principal);
  const expected = principals.ofScope(scope);
  if (expected === undefined || !isSameIdentity(expected, identity)) {
    return refuse(
      status.PERMISSION_DENIED,
      `${principal} is not authorized for scope ${scopeKey(scope)}`,
      principal,
    );
  }
  if (cache.get(scope) === undefined) {
    return refuse(status.UNAVAILABLE, `there is no snapshot for scope ${scopeKey(scope)} yet`, principal);
  }
  const certificateEndsMs = Date.parse(certificate.valid_to);
  return ok({
    nodeId: message.nodeId,
    scope,
    identity,
    pod,
    certificateEndsMs,
    takesParts: message.takesParts,
    unknownFields: fieldsBeyond(message.knownFields),
  });
}

const refuse = (code: status, message: string, principal?: string): Result<never, StreamRefusal> =>
  fail({ code, message, ...(principal !== undefined && { principal }) });
