/** Resolves a backendRef of a route to a backend. See docs/gateway-api.md, "Backends". */
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import type { EndpointUse } from "../../backends/service-port-ref.ts";
import { findServicePort, type EndpointRef, type Transport } from "../../backends/service-port.ts";
import type { ConditionReason } from "../../condition.ts";
import type { View } from "../../incremental/view.ts";
import { noGrant, type Referrer } from "../../reference-grants.ts";
import { quoteKind } from "../../text.ts";

/** The parts that the backend references of all route kinds, mirrors and policies have in common. */
export type WrittenBackendRef = {
  readonly group?: string;
  readonly kind?: string;
  readonly name: string;
  readonly namespace?: string;
  readonly port?: number;
  readonly weight?: number;
};

export type ResolvedBackendRef = {
  /** The backend. It answers 500 for its share of requests if the reference cannot be resolved. */
  readonly backend: Backend;
  readonly endpointRef?: EndpointRef;
  readonly refusal?: ConditionReason;
};

/** The status of the share of requests whose backend is invalid (Gateway API, HTTPRouteRule.backendRefs). */
const invalidBackend = 500;

/** The same answer as clients see it: the HTTP status, or the gRPC status. */
export const invalidAnswer = (kind: string): string =>
  kind === "GRPCRoute" ? "UNAVAILABLE" : String(invalidBackend);

export type BackendRefOptions = {
  readonly view: View;
  readonly allowExternalName: boolean;
  readonly isGrpc: boolean;
  /** Defaults to TCP. */
  readonly transport?: Transport;
  /** Defaults to requests. */
  readonly use?: EndpointUse;
};

/** Resolves a reference to a Service port. With `isGrpc`, the backend speaks HTTP/2 regardless of its port. */
export function resolveBackendRef(
  ref: WrittenBackendRef,
  from: Referrer,
  options: BackendRefOptions,
): ResolvedBackendRef {
  const { group = "", kind = "Service", name, namespace = from.namespace, port, weight = 1 } = ref;
  const service = `${namespace}/${name}`;
  const refused = (reason: string, message: string): ResolvedBackendRef => ({
    backend: { weight, service, protocol: "http1", status: invalidBackend },
    refusal: { reason, message },
  });
  if (group !== "" || kind !== "Service") {
    return refused(
      "InvalidKind",
      `${quoteKind({ group, kind })} is not a supported kind of backend, expected Service`,
    );
  }
  const { view, allowExternalName, isGrpc, transport = "TCP", use = "requests" } = options;
  if (!view.permits(from, { kind: "Service", namespace, name })) {
    return refused("RefNotPermitted", noGrant(namespace, from, `Service ${service}`));
  }
  if (port === undefined) return refused("InvalidKind", `The reference to Service ${service} names no port`);
  const found = findServicePort(
    { namespace, name, port: { number: port }, transport, use },
    view.lookup,
    allowExternalName,
  );
  if (!found.ok) {
    return found.error === "external-name"
      ? refused(
          "InvalidKind",
          `Service ${service} is of type ExternalName, which is only served with --allow-external-name`,
        )
      : refused(
          "BackendNotFound",
          found.error === "no-port"
            ? `Service ${service} has no ${transport} port ${port}`
            : `Service ${service} does not exist`,
        );
  }
  const { backend, endpointRef } = found.value;
  return { backend: { ...backend, weight, ...(isGrpc && { protocol: "http2" }) }, endpointRef };
}
