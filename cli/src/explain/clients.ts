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
  /** Requests are answered 400 or 403 inside TLS, and no handshake is refused. */
  readonly byRequest?: true;
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
  const deferred = demanded.find((rules) => rules?.byRequest !== undefined);
  if (deferred !== undefined && deferred.policyId === undefined) {
    return { need: "closed", owner: deferred.owner, byRequest: true, status: 403 };
  }
  const unproven = demanded.find((rules) => rules !== undefined && !isProvenBy(policy, rules));
  if (unproven !== undefined) return { need: "misdirected", owner: unproven.owner, status: 421 };
  const verdict = deferred?.byRequest;
  if (deferred !== undefined && (verdict?.mode === "on" || verdict?.matches !== undefined)) {
    return { need: "certificate", owner: deferred.owner, byRequest: true };
  }
  return policy?.mode === "require" ? { need: "certificate", owner: policy.owner ?? "" } : undefined;
}

/** As a sentence; `served` describes a request that passes. */
export function describeClients(
  { need, owner, byRequest }: ExplainedClients,
  served: () => string,
): readonly string[] {
  const rules = `by the rules of ${owner}`;
  if (byRequest === true) {
    return need === "closed"
      ? [`answered 403: no client certificate can be verified ${rules}`]
      : [`answered 400 or 403 without a client certificate that is valid ${rules}`, `with one: ${served()}`];
  }
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
