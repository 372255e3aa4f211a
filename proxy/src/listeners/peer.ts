import type { Socket } from "node:net";

/** The other end of a connection, as used by policies and logs. */
export type Peer = { readonly address: string; readonly port: number };

const mappedPrefix = "::ffff:";

/**
 * Returns the peer of an accepted socket; undefined if the socket is already closed. An IPv4 client of a dual-stack
 * socket has an IPv4-mapped address (RFC 4291 2.5.5.2), which is returned as an IPv4 address. The zone is omitted.
 */
export function peerOf({ remoteAddress, remotePort }: Socket): Peer | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return { address: plainAddress(remoteAddress), port: remotePort };
}

/** Returns the peer of a connection without a socket. */
export const plainPeer = ({ address, port }: Peer): Peer => ({ address: plainAddress(address), port });

/** Returns the local address of an accepted socket; undefined if the socket is already closed. */
export const localAddressOf = ({ localAddress }: Socket): string | undefined =>
  localAddress === undefined ? undefined : plainAddress(localAddress);

/** Returns an address without IPv4 mapping and zone. */
export function plainAddress(address: string): string {
  if (address.startsWith(mappedPrefix) && address.includes(".")) return address.slice(mappedPrefix.length);
  const zone = address.indexOf("%");
  return zone < 0 ? address : address.slice(0, zone);
}
