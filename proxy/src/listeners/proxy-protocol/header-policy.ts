import type { ProxyProtocol } from "@svc-gateway/common/ir/listener.ts";
import { compileCidrs, readCidrs, type CidrMatcher } from "@svc-gateway/common/values/cidr.ts";
import type { Peer } from "../peer.ts";

/** How listeners of a proxy take PROXY protocol headers (docs/features/proxy-protocol.md). */
export type ProxyProtocolSettings = {
  /** What holds for listeners that do not say it themselves. */
  readonly accepted: boolean;
  /** Peers that may send a header; empty: all of them. */
  readonly trustedPeers: CidrMatcher;
  /** Time for the whole header, milliseconds. */
  readonly timeoutMs: number;
};

/** What one listener asks of connections. */
export type ProxyHeaderPolicy = {
  readonly isRequired: boolean;
  readonly isTrusted: (peer: Peer) => boolean;
};

/** That of a listener that says nothing itself. Without a list every peer is believed. */
export const policyOfProxy = ({ accepted, trustedPeers }: ProxyProtocolSettings): ProxyHeaderPolicy => ({
  isRequired: accepted,
  isTrusted: ({ address }) => trustedPeers.isEmpty || trustedPeers.contains(address),
});

/** That of a listener that says it itself. Without a list no peer is believed. */
export function policyOfListener({ accepted, trustedPeers }: ProxyProtocol): ProxyHeaderPolicy {
  const trusted = compileCidrs(readCidrs(trustedPeers).cidrs);
  return { isRequired: accepted, isTrusted: ({ address }) => trusted.contains(address) };
}
