import { once } from "node:events";
import { Duplex } from "node:stream";
import { expect } from "chai";
import { ResponseMemory } from "../../src/http/response-memory.ts";
import { joinTunnel } from "../../src/sockets/tunnel.ts";

const none = Buffer.alloc(0);

describe("tunnels", () => {
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
      { socket: client, head: none },
      { socket: upstream, head: none },
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
