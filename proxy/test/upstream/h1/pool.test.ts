import { expect } from "chai";
import { BufferBody } from "../../../src/auth/external-call.ts";
import { createIdlePool } from "../../../src/upstream/idle-pool.ts";
import type { Addresses, Resolver } from "../../../src/upstream/resolver.ts";
import type { UpstreamEndpoint } from "../../../src/upstream/upstream.ts";
import { describeSocketLayers } from "../../socket-layers.ts";
import { answering, ManualBody, RawServer, until } from "../support.ts";
import { benchForEach, ok } from "./harness.ts";

describeSocketLayers("the pool of HTTP/1.1 connections", () => {
  const bench = benchForEach();
  const { exchange, send, start } = bench;

  it("a closed client opens no connection for requests in flight or new ones", async () => {
    const server = await start(RawServer.start());
    const first = send(server.endpoint);
    const peer = await server.peer(0);
    await peer.until("\r\n\r\n");
    peer.write(ok);
    await first.recorder.done;
    const second = send(server.endpoint);
    await until(() => peer.received.split("GET ").length === 3);
    bench.client.close();
    await second.recorder.done;
    expect([second.recorder.ends, second.recorder.error?.text]).to.deep.equal([
      ["error"],
      "proxy shutting down",
    ]);
    expect(second.recorder.reused).to.deep.equal([true]);
    const late = send(server.endpoint);
    await late.recorder.done;
    expect([late.recorder.ends, late.recorder.error?.text]).to.deep.equal([["error"], "proxy shutting down"]);
    expect(server.peers).to.have.length(1);
  });

  describe("the bound over all endpoints", () => {
    it("the bound over all endpoints closes the connection that has been idle longest", async () => {
      bench.restart({ idlePool: createIdlePool(2) });
      const [a, b, c] = [await start(answering(ok)), await start(answering(ok)), await start(answering(ok))];
      await exchange(a.endpoint);
      await exchange(b.endpoint);
      await exchange(a.endpoint);
      await exchange(c.endpoint);
      await until(() => b.peers[0]?.closed === true);
      expect([a.peers[0]?.closed, c.peers[0]?.closed, bench.idlePool.size]).to.deep.equal([false, false, 2]);
      expect((await exchange(a.endpoint)).reused).to.deep.equal([true]);
      expect((await exchange(c.endpoint)).reused).to.deep.equal([true]);
      expect((await exchange(b.endpoint)).reused).to.deep.equal([false]);
    });

    it("the pool keeps an idle connection no longer than its Service allows", async () => {
      let nowMs = 0;
      bench.restart({ idlePool: createIdlePool(8, () => nowMs) });
      const server = await start(answering(ok));
      const endpoint = {
        ...server.endpoint,
        limits: { connectTimeoutMs: undefined, idleTimeoutMs: 1_000 },
      };
      expect((await exchange(endpoint)).reused).to.deep.equal([false]);
      nowMs = 999;
      expect((await exchange(endpoint)).reused).to.deep.equal([true]);
      nowMs = 1_999;
      expect((await exchange(endpoint)).reused).to.deep.equal([false]);
      await until(() => server.peers[0]?.closed === true);
      nowMs = 3_000;
      bench.idlePool.closeExpired(nowMs);
      await until(() => server.peers[1]?.closed === true);
      expect(bench.idlePool.size).to.equal(0);
    });

    it("the bound over all endpoints does not limit connections in use", async () => {
      bench.restart({ idlePool: createIdlePool(1) });
      const server = await start(RawServer.start());
      const all = [send(server.endpoint), send(server.endpoint), send(server.endpoint)];
      await until(() => server.peers.filter(({ heads }) => heads === 1).length === 3);
      for (const peer of server.peers) peer.write(ok);
      await Promise.all(all.map(({ recorder }) => recorder.done));
      await until(() => server.peers.filter(({ closed }) => closed).length === 2);
      expect(bench.idlePool.size).to.equal(1);
    });

    it("a bound of 0 idle connections keeps none", async () => {
      bench.restart({ idlePool: createIdlePool(0) });
      const server = await start(answering(ok));
      await exchange(server.endpoint);
      await until(() => server.peers[0]?.closed === true);
      expect((await exchange(server.endpoint)).reused).to.deep.equal([false]);
      expect(bench.idlePool.size).to.equal(0);
    });
  });

  describe("idle connections", () => {
    for (const [name, act] of [
      ["ends", (server: RawServer) => server.peers[0]?.socket.end()],
      ["is reset", (server: RawServer) => server.peers[0]?.reset()],
      ["speaks", (server: RawServer) => server.peers[0]?.write("HTTP/1.1 200 OK\r\n\r\n")],
    ] as const) {
      it(`an idle connection that ${name} is dropped at once`, async () => {
        const server = await start(answering(ok));
        await exchange(server.endpoint);
        expect(bench.idlePool.size).to.equal(1);
        act(server);
        await until(() => bench.idlePool.size === 0);
        const next = await exchange(server.endpoint);
        expect([next.reused, next.text]).to.deep.equal([[false], "ok"]);
      });
    }
  });

  describe("stale pooled connections", () => {
    /** Answers one request per connection and ends it on the next one, as if the end had crossed that request. */
    const stale = (how: "end" | "reset") =>
      start(
        RawServer.start((peer, index) => {
          peer.onData = () => {
            if (peer.heads === 1) peer.write(ok);
            else if (index > 0) peer.write(ok);
            else if (how === "end") peer.socket.end();
            else peer.reset();
          };
        }),
      );

    for (const how of ["end", "reset"] as const) {
      for (const method of ["GET", "HEAD", "OPTIONS", "DELETE", "PUT"]) {
        it(`a stale pooled connection is replaced once for ${method} (${how})`, async () => {
          const server = await stale(how);
          await exchange(server.endpoint);
          const second = await exchange(server.endpoint, { method });
          expect([second.reused, second.ends, second.head?.status]).to.deep.equal([
            [true, false],
            ["end"],
            200,
          ]);
          expect(server.peers).to.have.length(2);
        });
      }

      it(`a stale pooled connection is not replaced for POST, which may have been acted on (${how})`, async () => {
        const server = await stale(how);
        await exchange(server.endpoint);
        const second = await exchange(server.endpoint, { method: "POST" });
        expect([second.reused, second.ends]).to.deep.equal([[true], ["error"]]);
        expect(second.error).to.include({ kind: "reset", requestSent: true });
        expect(server.peers).to.have.length(1);
      });

      it(`a stale pooled connection is not replaced once a request body that is not kept has been read (${how})`, async () => {
        const server = await stale(how);
        await exchange(server.endpoint);
        const body = new ManualBody(1, (self) => {
          self.push("x");
          self.end();
        });
        const second = await exchange(server.endpoint, { method: "PUT", body });
        expect([second.reused, second.ends, second.error?.kind]).to.deep.equal([[true], ["error"], "reset"]);
      });

      it(`a stale pooled connection is replaced with a request body that is kept (${how})`, async () => {
        const server = await stale(how);
        await exchange(server.endpoint);
        const body = new BufferBody(Buffer.from("all of it"));
        const second = await exchange(server.endpoint, { method: "PUT", body });
        expect([second.reused, second.ends, second.head?.status]).to.deep.equal([
          [true, false],
          ["end"],
          200,
        ]);
        expect(server.peers[1]?.received).to.match(/Content-Length: 9\r\n(?:[^]*\r\n)?\r\nall of it$/);
      });

      it(`a stale pooled connection is not replaced for POST, even with a body that is kept (${how})`, async () => {
        const server = await stale(how);
        await exchange(server.endpoint);
        const body = new BufferBody(Buffer.from("all of it"));
        const second = await exchange(server.endpoint, { method: "POST", body });
        expect([second.reused, second.ends, second.error?.kind]).to.deep.equal([[true], ["error"], "reset"]);
      });
    }

    it("a stale pooled connection is replaced while the body still waits for 100 Continue", async () => {
      const server = await stale("end");
      await exchange(server.endpoint);
      const body = new ManualBody(1, (self) => {
        self.push("x");
        self.end();
      });
      const second = await exchange(server.endpoint, { method: "PUT", body, expectContinue: true });
      expect([second.reused, second.ends]).to.deep.equal([[true, false], ["end"]]);
    });

    it("a stale pooled connection is not replaced after the first byte of a response", async () => {
      const server = await start(
        RawServer.start((peer) => {
          peer.onData = () => {
            if (peer.heads === 1) return peer.write(ok);
            peer.write("H");
            peer.socket.end();
          };
        }),
      );
      await exchange(server.endpoint);
      const second = await exchange(server.endpoint);
      expect([second.reused, second.ends, second.error?.kind]).to.deep.equal([[true], ["error"], "reset"]);
    });

    it("the failure of the replacement of a stale pooled connection is reported", async () => {
      const server = await start(
        RawServer.start((peer, index) => {
          peer.onData = () => {
            if (index === 0 && peer.heads === 1) peer.write(ok);
            else peer.socket.end();
          };
        }),
      );
      await exchange(server.endpoint);
      const second = await exchange(server.endpoint);
      expect([second.reused, second.ends, second.error?.kind]).to.deep.equal([
        [true, false],
        ["error"],
        "reset",
      ]);
      expect(server.peers).to.have.length(2);
    });

    it("a stale pooled connection is not replaced when the request was aborted", async () => {
      const server = await start(
        RawServer.start((peer) => {
          peer.onData = () => peer.heads === 1 && peer.write(ok);
        }),
      );
      await exchange(server.endpoint);
      const { stream, recorder } = send(server.endpoint);
      await until(() => server.peers[0]?.heads === 2);
      stream.abort();
      await until(() => server.peers[0]?.closed === true);
      expect([recorder.ends, server.peers.length]).to.deep.equal([[], 1]);
    });
  });

  describe("retire()", () => {
    it("retire() closes idle connections at once and those in use after their response", async () => {
      const server = await start(RawServer.start());
      const [first, second] = [send(server.endpoint), send(server.endpoint)];
      await until(() => server.peers.filter(({ heads }) => heads === 1).length === 2);
      const [a, b] = server.peers;
      a?.write(ok);
      await Promise.race([first.recorder.done, second.recorder.done]);
      bench.client.retire([server.endpoint]);
      await until(() => a?.closed === true);
      expect([b?.closed, bench.idlePool.size]).to.deep.equal([false, 0]);
      b?.write(ok);
      await Promise.all([first.recorder.done, second.recorder.done]);
      await until(() => b?.closed === true);
      expect([first.recorder.text, second.recorder.text]).to.deep.equal(["ok", "ok"]);
    });

    it("retire() does not affect connections of other endpoints", async () => {
      const [a, b] = [await start(answering(ok)), await start(answering(ok))];
      await exchange(a.endpoint);
      await exchange(b.endpoint);
      bench.client.retire([a.endpoint]);
      expect((await exchange(b.endpoint)).reused).to.deep.equal([true]);
    });
  });

  it("the pool closes connections to addresses that a name no longer resolves to", async () => {
    const server = await start(answering(ok));
    let addresses: Addresses = ["127.0.0.1"];
    const resolver: Resolver = {
      resolve: (_name, done) => done({ ok: true, value: addresses }),
      lastKnown: () => addresses,
    };
    bench.restart({ resolver });
    const byName: UpstreamEndpoint = { ...server.endpoint, host: "upstream.test" };
    expect((await exchange(byName)).reused).to.deep.equal([false]);
    expect((await exchange(byName)).reused).to.deep.equal([true]);
    addresses = ["127.0.0.2", "127.0.0.1"];
    expect((await exchange(byName)).reused).to.deep.equal([true]);
    addresses = ["127.0.0.2"];
    const { stream } = send(byName);
    await until(() => server.peers[0]?.closed === true);
    stream.abort();
  });
});
