import type { Socket } from "node:net";

export type PlaceLimits = {
  readonly maxConnections: number;
  /** Connections of one address. */
  readonly maxConnectionsPerAddress: number;
};

/** Decides which connections are admitted. See docs/discovery.md, "Limits". */
export type ConnectionPlaces = {
  /** False when there is no place: each is taken by a connection with a call. */
  take(socket: Socket): boolean;
  leave(socket: Socket): void;
  /** A peer (`address:port`) has one call more or less. */
  onCall(peer: string, calls: 1 | -1): void;
};

type Place = { readonly socket: Socket; readonly address: string; calls: number };

/**
 * Admits a bounded number of connections. At a limit, of one address or of all, the oldest connection without a call is
 * closed: peers that connect and stay idle cannot lock others out.
 */
export function createConnectionPlaces(limits: PlaceLimits): ConnectionPlaces {
  /** By `address:port`, the oldest first. */
  const places = new Map<string, Place>();
  const perAddress = new Map<string, number>();
  /** A socket that is closed does not know its peer any more. */
  const peers = new WeakMap<Socket, string>();

  const drop = (peer: string, { address }: Place): void => {
    places.delete(peer);
    const left = (perAddress.get(address) ?? 1) - 1;
    if (left === 0) perAddress.delete(address);
    else perAddress.set(address, left);
  };

  /** True when a silent connection was closed. */
  const makeRoom = (isCandidate: (place: Place) => boolean): boolean => {
    for (const [peer, place] of places) {
      if (place.calls > 0 || !isCandidate(place)) continue;
      drop(peer, place);
      place.socket.destroy();
      return true;
    }
    return false;
  };

  return {
    take(socket) {
      const { remoteAddress: address = "" } = socket;
      const ofAddress = perAddress.get(address) ?? 0;
      const isFullForIt = ofAddress >= limits.maxConnectionsPerAddress;
      if (isFullForIt && !makeRoom((place) => place.address === address)) return false;
      if (places.size >= limits.maxConnections && !makeRoom(() => true)) return false;
      const peer = peerOf(socket);
      peers.set(socket, peer);
      places.set(peer, { socket, address, calls: 0 });
      perAddress.set(address, (perAddress.get(address) ?? 0) + 1);
      return true;
    },
    leave(socket) {
      const peer = peers.get(socket) ?? "";
      const place = places.get(peer);
      if (place?.socket === socket) drop(peer, place);
    },
    onCall(peer, calls) {
      const place = places.get(peer);
      if (place !== undefined) place.calls += calls;
    },
  };
}

/** As gRPC names the peer of a call. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;
