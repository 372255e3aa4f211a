import type { ExtAuth } from "@svc-gateway/common/features/ext-auth.ts";
import type { Listener } from "@svc-gateway/common/ir/listener.ts";
import type { EndpointRef } from "../backends/service-port.ts";
import type { Diagnostic } from "../finding.ts";
import type { PolicyAttachment } from "../policy-ancestors.ts";
import type { PlannedGateway } from "./listeners/gateways.ts";

export type PortPolicy = Pick<Listener, "proxyProtocol" | "maxConnections" | "observation">;

/** Policies by the port that clients use. */
export type PortPolicies = ReadonlyMap<number, PortPolicy>;

export type ClientTraffic<G extends PlannedGateway> = {
  /** Returns how a Gateway accepts connections; undefined if only the flags of the proxy apply. */
  readonly of: (gateway: G) => PortPolicies | undefined;
  readonly attachments: readonly PolicyAttachment<"ClientTrafficPolicy">[];
  readonly diagnostics: readonly Diagnostic[];
};

/**
 * The authorization of every request to a Gateway, by services that are all `required`, so that no route can replace
 * them by another check. The object keeps its identity until the
 * authorization changes.
 */
export type Guard = { readonly asked: ExtAuth; readonly endpointRefs: readonly EndpointRef[] };
