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

  it("let the oldest silent connection give way to a new one", () => {
    const { places, closed, connect } = setUp(3, 3);
    const [first, second] = [connect("a"), connect("b")];
    connect("c");
    places.onCall(first.peer, 1);
    expect(connect("d").isTaken).to.equal(true);
    expect(closed).to.deep.equal([second.peer]);
  });

  it("refuse a connection when all others have calls, and know when a call has ended", () => {
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

  it("take the room for an address that has its share from its own connections", () => {
    const { closed, connect } = setUp(8, 2);
    const other = connect("b");
    const [first] = [connect("a"), connect("a"), connect("a")];
    expect(closed).to.deep.equal([first?.peer]);
    expect(closed).to.not.include(other.peer);
  });

  it("are free again when connections are closed, however they were closed", () => {
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
