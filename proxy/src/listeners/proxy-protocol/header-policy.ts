import type { ProxyProtocol } from "@svc-gateway/common/ir/listener.ts";
import { compileCidrs, readCidrs, type CidrMatcher } from "@svc-gateway/common/values/cidr.ts";
import type { Peer } from "../peer.ts";

/** The PROXY protocol settings of a proxy (docs/features/proxy-protocol.md). */
export type ProxyProtocolSettings = {
  /** Whether listeners without a setting of their own accept headers. */
  readonly accepted: boolean;
  /** Peers that may send a header; empty: all of them. */
  readonly trustedPeers: CidrMatcher;
  /** Time for the whole header, milliseconds. */
  readonly timeoutMs: number;
};

/** The rules of one listener for its connections. */
export type ProxyHeaderPolicy = {
  readonly isRequired: boolean;
  readonly isTrusted: (peer: Peer) => boolean;
};

/** The policy of a listener without a setting of its own. Without a list every peer is trusted. */
export const policyOfProxy = ({ accepted, trustedPeers }: ProxyProtocolSettings): ProxyHeaderPolicy => ({
  isRequired: accepted,
  isTrusted: ({ address }) => trustedPeers.isEmpty || trustedPeers.contains(address),
});

/** The policy of a listener with a setting of its own. Without a list no peer is trusted. */
export function policyOfListener({ accepted, trustedPeers }: ProxyProtocol): ProxyHeaderPolicy {
  const trusted = compileCidrs(readCidrs(trustedPeers).cidrs);
  return { isRequired: accepted, isTrusted: ({ address }) => trusted.contains(address) };
}
