import type { Socket } from "node:net";
import { expect } from "chai";
import { createConnectionPlaces } from "@svc-gateway/operator/discovery/connection-places.ts";

describe("the places of connections", () => {
  const setUp = (maxConnections: number, maxConnectionsPerAddress: number) => {
    const places = createConnectionPlaces({ maxConnections, maxConnectionsPerAddress });
    const closed: string[] = [];
    let nextPort = 1;
    const connect = (address: string) => {
      const remotePort = nextPort++;
      const peer = `${address}:${remotePort}`;
      // Only what places look at.
      const socket = {
        remoteAddress: address,
        remotePort,
        destroy() {
          closed.push(peer);
          places.leave(socket);
        },
      } as unknown as Socket;
      return { peer, socket, isTaken: places.take(socket) };
    };
    return { places, closed, connect };
  };

  it("the oldest silent connection is closed for a new one", () => {
    const { places, closed, connect } = setUp(3, 3);
    const [first, second] = [connect("a"), connect("b")];
    connect("c");
    places.onCall(first.peer, 1);
    expect(connect("d").isTaken).to.equal(true);
    expect(closed).to.deep.equal([second.peer]);
  });

  it("a connection is refused while all others have calls, and accepted after the calls have ended", () => {
    const { places, closed, connect } = setUp(1, 1);
    const first = connect("a");
    places.onCall(first.peer, 1);
    places.onCall(first.peer, 1);
    places.onCall(first.peer, -1);
    expect(connect("b").isTaken).to.equal(false);
    places.onCall(first.peer, -1);
    expect(connect("b").isTaken).to.equal(true);
    expect(closed).to.deep.equal([first.peer]);
  });

  it("an address that has used its share loses its own oldest connection, not one of another address", () => {
    const { closed, connect } = setUp(8, 2);
    const other = connect("b");
    const [first] = [connect("a"), connect("a"), connect("a")];
    expect(closed).to.deep.equal([first?.peer]);
    expect(closed).to.not.include(other.peer);
  });

  it("a place is free again after its connection was closed, in whichever way", () => {
    const { places, connect } = setUp(2, 2);
    for (let index = 0; index < 10; index++) {
      const { socket, isTaken } = connect("a");
      expect(isTaken).to.equal(true);
      places.leave(socket);
      places.leave(socket);
    }
    expect(connect("a").isTaken).to.equal(true);
    expect(connect("a").isTaken).to.equal(true);
  });
});
