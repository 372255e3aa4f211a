import type { Socket } from "node:net";

/** The other end of a connection, as policies and logs see it. */
export type Peer = { readonly address: string; readonly port: number };

const mappedPrefix = "::ffff:";

/**
 * The peer of an accepted socket; undefined when it is already closed. An IPv4 client of a dual-stack socket appears as
 * an IPv4-mapped address and is reported as the IPv4 address that it is (RFC 4291 2.5.5.2). No zone.
 */
export function peerOf({ remoteAddress, remotePort }: Socket): Peer | undefined {
  if (remoteAddress === undefined || remotePort === undefined) return undefined;
  return { address: plainAddress(remoteAddress), port: remotePort };
}

/** The peer of a connection without a socket. */
export const plainPeer = ({ address, port }: Peer): Peer => ({ address: plainAddress(address), port });

/** The local address of an accepted socket; undefined when it is already closed. */
export const localAddressOf = ({ localAddress }: Socket): string | undefined =>
  localAddress === undefined ? undefined : plainAddress(localAddress);

/** An address without IPv4 mapping and zone. */
export function plainAddress(address: string): string {
  if (address.startsWith(mappedPrefix) && address.includes(".")) return address.slice(mappedPrefix.length);
  const zone = address.indexOf("%");
  return zone < 0 ? address : address.slice(0, zone);
}
