import type { ProxyProtocol } from "@svc-gateway/common/ir/listener.ts";
import { compileCidrs, readCidrs, type CidrMatcher } from "@svc-gateway/common/values/cidr.ts";
import type { Peer } from "../peer.ts";

/** The PROXY protocol settings of a proxy (docs/features/proxy-protocol.md). */
export type ProxyProtocolSettings = {
  /** Whether listeners without their own setting expect headers. */
  readonly accepted: boolean;
  /** Peers that may send a header; if empty, all may. */
  readonly trustedPeers: CidrMatcher;
  /** Time limit of the whole header, in milliseconds. */
  readonly timeoutMs: number;
};

/** The rules of one listener for its connections. */
export type ProxyHeaderPolicy = {
  readonly isRequired: boolean;
  readonly isTrusted: (peer: Peer) => boolean;
};

/** Returns the policy of a listener without its own setting. An empty list trusts every peer. */
export const policyOfProxy = ({ accepted, trustedPeers }: ProxyProtocolSettings): ProxyHeaderPolicy => ({
  isRequired: accepted,
  isTrusted: ({ address }) => trustedPeers.isEmpty || trustedPeers.contains(address),
});

/** Returns the policy of a listener with its own setting. An empty list trusts no peer. */
export function policyOfListener({ accepted, trustedPeers }: ProxyProtocol): ProxyHeaderPolicy {
  const trusted = compileCidrs(readCidrs(trustedPeers).cidrs);
  return { isRequired: accepted, isTrusted: ({ address }) => trusted.contains(address) };
}
