import { once } from "node:events";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { expect } from "chai";
import type { Cancellable } from "../../src/exchange/exchange.ts";
import { ResponseMemory } from "../../src/http/response-memory.ts";
import { ReadBuffer } from "../../src/sockets/read-buffer.ts";
import { SocketTransport } from "../../src/sockets/socket-transport.ts";
import { joinTunnel } from "../../src/sockets/tunnel.ts";
import { eventually } from "../http/h1/harness.ts";
import { describeSocketLayers, socketLayer } from "../socket-layers.ts";
import { muchBytes, transportBench, turns } from "./transport-bench.ts";

const none = Buffer.alloc(0);
/** More than the buffers of two loopback connections hold. */
describe("tunnels over streams", () => {
  it("an end that takes nothing is written a few pieces, however small they are, and the rest when it has taken them", async () => {
    const taken: (() => void)[] = [];
    let written = "";
    const upstream = new Duplex({
      read: () => undefined,
      write(bytes: Buffer, _encoding, done) {
        written += bytes.toString();
        taken.push(done);
      },
    });
    const client = new Duplex({ read: () => undefined, write: (_bytes, _encoding, done) => done() });
    const tunnel = joinTunnel(
      { transport: new SocketTransport(client), head: none },
      { transport: new SocketTransport(upstream), head: none },
      { onProgress: () => undefined, onEnd: () => undefined },
      new ResponseMemory(),
    );
    for (let i = 0; i < 200; i++) {
      client.push("x");
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(client.isPaused()).to.equal(true);
    expect(upstream.writableLength).to.be.within(32, 128);
    client.push(null);
    const ended = once(upstream, "finish");
    const timer = setInterval(() => taken.shift()?.(), 0);
    await ended;
    clearInterval(timer);
    expect(written).to.equal("x".repeat(200));
    tunnel.cancel();
  });
});

/** A peer that records the bytes that it receives, the end and the close. */
class Peer {
  readonly socket: Socket;
  readonly pieces: Buffer[] = [];
  receivedBytes = 0;
  hasEnded = false;
  isClosed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (bytes: Buffer) => {
      this.pieces.push(bytes);
      this.receivedBytes += bytes.length;
    });
    socket.on("end", () => (this.hasEnded = true));
    socket.on("close", () => (this.isClosed = true));
    socket.on("error", () => {});
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString("latin1");
  }
}

type Joined = {
  readonly client: Peer;
  readonly upstream: Peer;
  readonly tunnel: Cancellable;
  /** Bytes to the client, and from it. */
  readonly relayed: [number, number];
  readonly isOver: () => boolean;
};

describeSocketLayers("a tunnel", () => {
  const { accept } = transportBench();

  /** A client and an upstream, joined by the two sockets that the proxy would accept and open. */
  async function join({ responseMemory = new ResponseMemory(), head = none } = {}): Promise<Joined> {
    const accepted = await accept();
    const memory = new ReadBuffer();
    const receiver = { receive: () => {}, ended: () => {}, taken: () => {}, closed: () => {} };
    const dialling = socketLayer().dial(memory, receiver, false);
    const { client: opened, socket: far } = await accept(dialling.onread);
    const relayed: [number, number] = [0, 0];
    let isOver = false;
    const tunnel = joinTunnel(
      { transport: socketLayer().take(accepted.socket), head: none },
      { transport: dialling.opened(opened), head, memory },
      {
        onProgress(clientBytes, upstreamBytes) {
          relayed[0] += clientBytes;
          relayed[1] += upstreamBytes;
        },
        onEnd: () => (isOver = true),
      },
      responseMemory,
    );
    return {
      client: new Peer(accepted.client),
      upstream: new Peer(far),
      tunnel,
      relayed,
      isOver: () => isOver,
    };
  }

  it("a tunnel relays bytes in both directions, those that were read ahead first, and counts them", async () => {
    const { client, upstream, relayed } = await join({ head: Buffer.from("ahead ") });
    upstream.socket.write("down");
    await eventually(() => client.text === "ahead down");
    client.socket.write("up");
    await eventually(() => upstream.text === "up");
    expect(relayed).to.deep.equal([10, 2]);
  });

  it("a tunnel passes many bytes in both directions at once, unchanged", async () => {
    const { client, upstream, relayed } = await join();
    const down = Buffer.alloc(muchBytes, "0123456789");
    const up = Buffer.alloc(muchBytes, "abcdefg");
    upstream.socket.write(down);
    client.socket.write(up);
    await eventually(() => client.receivedBytes === muchBytes && upstream.receivedBytes === muchBytes);
    expect(Buffer.concat(client.pieces).equals(down)).to.equal(true);
    expect(Buffer.concat(upstream.pieces).equals(up)).to.equal(true);
    expect(relayed).to.deep.equal([muchBytes, muchBytes]);
  });

  it("tunnels that read in turn, with peers that read late, mix nothing", async () => {
    const tunnels = [await join(), await join(), await join()];
    const messages = 2000;
    for (const { client, upstream } of tunnels) {
      client.socket.pause();
      upstream.socket.pause();
    }
    for (let i = 0; i < messages; i++) {
      tunnels.forEach(({ client, upstream }, index) => {
        client.socket.write(Buffer.alloc(700, `${index}`));
        upstream.socket.write(Buffer.alloc(1100, `${index + 5}`));
      });
      if (i % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const { client, upstream } of tunnels) {
      client.socket.resume();
      upstream.socket.resume();
    }
    await eventually(() =>
      tunnels.every(
        ({ client, upstream }) =>
          upstream.receivedBytes === 700 * messages && client.receivedBytes === 1100 * messages,
      ),
    );
    tunnels.forEach(({ client, upstream }, index) => {
      expect(upstream.text === `${index}`.repeat(700 * messages)).to.equal(true);
      expect(client.text === `${index + 5}`.repeat(1100 * messages)).to.equal(true);
    });
  });

  for (const side of ["client", "upstream"] as const) {
    const other = side === "client" ? "upstream" : "client";

    it(`a half-close of the ${side} is passed on behind all bytes, and the other direction goes on`, async () => {
      const joined = await join();
      const [from, to] = [joined[side], joined[other]];
      to.socket.pause();
      from.socket.end(Buffer.alloc(muchBytes, "x"));
      await turns();
      to.socket.resume();
      await eventually(() => to.hasEnded);
      expect(to.receivedBytes).to.equal(muchBytes);
      expect(joined.isOver()).to.equal(false);
      to.socket.end("late");
      await eventually(() => from.hasEnded && joined.isOver());
      expect(from.text).to.equal("late");
    });

    it(`a tunnel stops reading its ${side} while the other end takes nothing`, async () => {
      const joined = await join();
      const [from, to] = [joined[side], joined[other]];
      to.socket.pause();
      from.socket.write(Buffer.alloc(muchBytes, "x"));
      let before = -1;
      const total = (): number => joined.relayed[0] + joined.relayed[1];
      while (before !== total()) {
        before = total();
        await turns();
      }
      expect(total()).to.be.below(muchBytes);
      to.socket.resume();
      await eventually(() => to.receivedBytes === muchBytes);
    });

    it(`a reset by the ${side} ends both connections of a tunnel, bytes that wait included`, async () => {
      const joined = await join();
      const [from, to] = [joined[side], joined[other]];
      from.socket.pause();
      to.socket.write(Buffer.alloc(muchBytes, "x"));
      await eventually(() => joined.relayed[0] + joined.relayed[1] > 0);
      from.socket.resetAndDestroy();
      await eventually(() => to.isClosed && joined.isOver());
    });
  }

  it("a tunnel that is cancelled ends both connections, and reports its end once", async () => {
    const { client, upstream, tunnel, isOver } = await join();
    tunnel.cancel();
    tunnel.cancel();
    await eventually(() => client.hasEnded && upstream.hasEnded && isOver());
  });

  it("bytes that wait for the client of a tunnel count as waiting until it has taken them, or is closed", async () => {
    const responseMemory = new ResponseMemory();
    const { client, upstream } = await join({ responseMemory });
    client.socket.pause();
    upstream.socket.write(Buffer.alloc(muchBytes, "x"));
    await eventually(() => responseMemory.heldBytes > 0);
    expect(responseMemory.heldBytes).to.be.below(1_000_000);
    client.socket.resume();
    await eventually(() => client.receivedBytes === muchBytes && responseMemory.heldBytes === 0);
    client.socket.pause();
    upstream.socket.write(Buffer.alloc(muchBytes, "x"));
    await eventually(() => responseMemory.heldBytes > 0);
    client.socket.destroy();
    await eventually(() => upstream.isClosed);
    expect(responseMemory.heldBytes).to.equal(0);
  });

  it("a tunnel whose client takes nothing is cut while the memory of waiting responses is full", async () => {
    let cuts = 0;
    const responseMemory = new ResponseMemory(1, () => cuts++);
    const { client, upstream, isOver } = await join({ responseMemory });
    client.socket.pause();
    upstream.socket.write(Buffer.alloc(muchBytes, "x"));
    await eventually(() => isOver());
    expect([cuts, responseMemory.heldBytes]).to.deep.equal([1, 0]);
    expect(client.receivedBytes).to.equal(0);
  });
});
