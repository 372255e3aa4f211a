/** What a request with TLS needs of its connection and client, and so whether it is served at all. */
import {
  isProvenBy,
  type ClientPolicy,
  type DemandedRules,
} from "@svc-gateway/proxy/tls/client-validation.ts";

export type ExplainedClients = {
  /**
   * `certificate`: the handshake rejects clients without a certificate that its rules accept. `closed`: it rejects
   * every client, as the rules have no usable authority. `misdirected`: the request is answered 421 for every client,
   * because the handshake does not check what its host or route requires.
   */
  readonly need: "certificate" | "closed" | "misdirected";
  /** The owner of the rules: `ingress/namespace/name`, or the id of a listener. */
  readonly owner: string;
  readonly status?: number;
};

/** Undefined: nothing is required. `demanded` are the rules of the host and of the route. */
export function explainClients(
  policy: ClientPolicy | undefined,
  demanded: readonly (DemandedRules | undefined)[],
): ExplainedClients | undefined {
  if (policy?.mode === "require" && policy.authorities.length === 0) {
    return { need: "closed", owner: policy.owner ?? "" };
  }
  const unproven = demanded.find((rules) => rules !== undefined && !isProvenBy(policy, rules));
  if (unproven !== undefined) return { need: "misdirected", owner: unproven.owner, status: 421 };
  return policy?.mode === "require" ? { need: "certificate", owner: policy.owner ?? "" } : undefined;
}

/** As a sentence; `served` describes a request that passes. */
export function describeClients({ need, owner }: ExplainedClients, served: () => string): readonly string[] {
  const rules = `by the rules of ${owner}`;
  switch (need) {
    case "closed":
      return [`every handshake is refused: no client certificate can be verified ${rules}`];
    case "misdirected":
      return [`answered 421: the handshake for this server name verifies no client certificate ${rules}`];
    case "certificate":
      return [
        `the handshake is refused without a client certificate that is valid ${rules}`,
        `with one: ${served()}`,
      ];
  }
}
