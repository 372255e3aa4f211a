import type { Socket } from "node:net";

export type PlaceLimits = {
  readonly maxConnections: number;
  /** The largest number of connections from one address. */
  readonly maxConnectionsPerAddress: number;
};

/** Decides which connections are admitted. See docs/discovery.md, "Limits". */
export type ConnectionPlaces = {
  /** Admits a connection. Returns false if there is no place because each is used by a connection with a call. */
  take(socket: Socket): boolean;
  leave(socket: Socket): void;
  /** Adjusts the number of calls of a peer (`address:port`). */
  onCall(peer: string, calls: 1 | -1): void;
};

type Place = { readonly socket: Socket; readonly address: string; calls: number };

/**
 * Admits a bounded number of connections. When a limit is reached, per address or in total, the oldest connection
 * without a call is closed, so that idle peers cannot lock others out.
 */
export function createConnectionPlaces(limits: PlaceLimits): ConnectionPlaces {
  /** The places by `address:port`, the oldest first. */
  const places = new Map<string, Place>();
  const perAddress = new Map<string, number>();
  /** The peer of each socket, because a closed socket no longer knows it. */
  const peers = new WeakMap<Socket, string>();

  const drop = (peer: string, { address }: Place): void => {
    places.delete(peer);
    const left = (perAddress.get(address) ?? 1) - 1;
    if (left === 0) perAddress.delete(address);
    else perAddress.set(address, left);
  };

  /** Closes the oldest matching connection without a call; returns whether there was one. */
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

/** The peer in the form that gRPC uses for calls. */
const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;
