import type { CidrMatcher } from "@svc-gateway/common/values/cidr.ts";
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

export const isTrustedPeer = ({ trustedPeers }: ProxyProtocolSettings, { address }: Peer): boolean =>
  trustedPeers.isEmpty || trustedPeers.contains(address);
