import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createHttp1UpstreamClient } from "../../../src/upstream/h1/client.ts";
import { createIdlePool, type IdlePool } from "../../../src/upstream/idle-pool.ts";
import type { Addresses, Resolver } from "../../../src/upstream/resolver.ts";
import type { UpstreamClient, UpstreamEndpoint, UpstreamRequest } from "../../../src/upstream/upstream.ts";
import { answering, clientOptions, getRequest, ManualBody, RawServer, Recorder, until } from "../support.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("the pool of HTTP/1.1 connections", () => {
  let client: UpstreamClient;
  let idlePool: IdlePool;
  const servers: RawServer[] = [];

  const withPool = (maxConnections: number): void => {
    idlePool = createIdlePool(maxConnections);
    client = createHttp1UpstreamClient(clientOptions({ idlePool }));
  };
  const start = async (server: Promise<RawServer>): Promise<RawServer> => {
    servers.push(await server);
    return server;
  };
  beforeEach(() => withPool(128));
  afterEach(() => {
    client.close();
    for (const server of servers.splice(0)) server.close();
  });

  const send = (endpoint: UpstreamEndpoint, overrides: Partial<UpstreamRequest> = {}) => {
    const recorder = new Recorder();
    const stream = client.send(endpoint, getRequest(overrides), recorder);
    return { recorder, stream };
  };
  const exchange = async (endpoint: UpstreamEndpoint, overrides: Partial<UpstreamRequest> = {}) => {
    const { recorder } = send(endpoint, overrides);
    await recorder.done;
    return recorder;
  };

  it("opens no connection in place of those that end because the client is closed", async () => {
    const server = await start(RawServer.start());
    const first = send(server.endpoint);
    const peer = await server.peer(0);
    await peer.until("\r\n\r\n");
    peer.write(ok);
    await first.recorder.done;
    const second = send(server.endpoint);
    await until(() => peer.received.split("GET ").length === 3);
    client.close();
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
    it("closes the connection that has been idle longest", async () => {
      withPool(2);
      const [a, b, c] = [await start(answering(ok)), await start(answering(ok)), await start(answering(ok))];
      await exchange(a.endpoint);
      await exchange(b.endpoint);
      await exchange(a.endpoint);
      await exchange(c.endpoint);
      await until(() => b.peers[0]?.closed === true);
      expect([a.peers[0]?.closed, c.peers[0]?.closed, idlePool.size]).to.deep.equal([false, false, 2]);
      expect((await exchange(a.endpoint)).reused).to.deep.equal([true]);
      expect((await exchange(c.endpoint)).reused).to.deep.equal([true]);
      expect((await exchange(b.endpoint)).reused).to.deep.equal([false]);
    });

    it("keeps a connection no longer than its Service allows", async () => {
      let nowMs = 0;
      idlePool = createIdlePool(8, () => nowMs);
      client = createHttp1UpstreamClient(clientOptions({ idlePool }));
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
      idlePool.closeExpired(nowMs);
      await until(() => server.peers[1]?.closed === true);
      expect(idlePool.size).to.equal(0);
    });

    it("does not bound what is in use", async () => {
      withPool(1);
      const server = await start(RawServer.start());
      const all = [send(server.endpoint), send(server.endpoint), send(server.endpoint)];
      await until(() => server.peers.filter(({ heads }) => heads === 1).length === 3);
      for (const peer of server.peers) peer.write(ok);
      await Promise.all(all.map(({ recorder }) => recorder.done));
      await until(() => server.peers.filter(({ closed }) => closed).length === 2);
      expect(idlePool.size).to.equal(1);
    });

    it("may be 0: nothing is kept", async () => {
      withPool(0);
      const server = await start(answering(ok));
      await exchange(server.endpoint);
      await until(() => server.peers[0]?.closed === true);
      expect((await exchange(server.endpoint)).reused).to.deep.equal([false]);
      expect(idlePool.size).to.equal(0);
    });
  });

  describe("how long a backend keeps idle connections", () => {
    let nowMs = 0;

    beforeEach(() => {
      nowMs = 0;
      idlePool = createIdlePool(8, () => nowMs);
      client = createHttp1UpstreamClient(clientOptions({ idlePool }));
    });

    const announcing = (field: string) =>
      start(answering(`HTTP/1.1 200 OK\r\nKeep-Alive: ${field}\r\nContent-Length: 2\r\n\r\nok`));

    it("is heeded where Node announces it", async () => {
      const backend = createServer((_, response) => response.end("ok"));
      backend.keepAliveTimeout = 5_000;
      backend.listen(0, "127.0.0.1");
      await once(backend, "listening");
      const { port } = backend.address() as AddressInfo;
      const endpoint = { host: "127.0.0.1", port, address: `127.0.0.1:${port}` };
      try {
        expect((await exchange(endpoint)).reused).to.deep.equal([false]);
        nowMs = 3_999;
        expect((await exchange(endpoint, { method: "POST" })).reused).to.deep.equal([true]);
        nowMs = 3_999 + 4_000;
        expect((await exchange(endpoint)).reused).to.deep.equal([false]);
      } finally {
        backend.closeAllConnections();
        backend.close();
      }
    });

    it("is heeded after responses that do not repeat it", async () => {
      const server = await start(
        RawServer.start((peer) => {
          peer.onData = () =>
            peer.write(peer.heads === 1 ? ok.replace("\r\n", "\r\nKeep-Alive: timeout=5\r\n") : ok);
        }),
      );
      await exchange(server.endpoint);
      await exchange(server.endpoint);
      nowMs = 4_000;
      expect((await exchange(server.endpoint)).reused).to.deep.equal([false]);
    });

    it("closes connections in time that nothing uses again", async () => {
      const server = await announcing("timeout=5");
      await exchange(server.endpoint);
      idlePool.closeExpired(3_999);
      expect(idlePool.size).to.equal(1);
      idlePool.closeExpired(4_000);
      await until(() => server.peers[0]?.closed === true);
    });

    it("counts where it is shorter than what the Service allows, and only there", async () => {
      const server = await announcing("timeout=5");
      for (const [idleTimeoutMs, reusedAt, lateAt] of [
        [60_000, 3_999, 4_000],
        [2_000, 1_999, 2_000],
      ] as const) {
        nowMs = 0;
        const endpoint = { ...server.endpoint, limits: { connectTimeoutMs: undefined, idleTimeoutMs } };
        await exchange(endpoint);
        nowMs = reusedAt;
        expect((await exchange(endpoint)).reused).to.deep.equal([true]);
        nowMs += lateAt;
        expect((await exchange(endpoint)).reused).to.deep.equal([false]);
      }
    });

    for (const field of ["timeout=0", "timeout=5, max=0"]) {
      it(`may be not at all: ${field}`, async () => {
        const server = await announcing(field);
        await exchange(server.endpoint);
        await until(() => server.peers[0]?.closed === true);
        expect(idlePool.size).to.equal(0);
      });
    }

    const oneByte = (): ManualBody =>
      new ManualBody(1, (self) => {
        self.push("x");
        self.end();
      });

    it("is not known: after a second only what can be sent again goes over an idle connection", async () => {
      const server = await start(answering(ok));
      await exchange(server.endpoint);
      for (const overrides of [{ method: "POST" }, { method: "PUT", body: oneByte() }]) {
        nowMs += 1_000;
        expect((await exchange(server.endpoint, overrides)).reused).to.deep.equal([true]);
      }
      nowMs += 60_000;
      for (const method of ["GET", "PUT"]) {
        expect((await exchange(server.endpoint, { method })).reused).to.deep.equal([true]);
        nowMs += 1_001;
      }
      expect(server.peers).to.have.length(1);
      for (const overrides of [{ method: "POST" }, { method: "PATCH" }, { method: "PUT", body: oneByte() }]) {
        expect((await exchange(server.endpoint, overrides)).reused).to.deep.equal([false]);
        // The new connection takes the place of the old one.
        expect(idlePool.size).to.equal(1);
        nowMs += 1_001;
      }
    });

    it("is vouched for by the Service", async () => {
      const server = await start(answering(ok));
      const endpoint = {
        ...server.endpoint,
        limits: { connectTimeoutMs: undefined, idleTimeoutMs: 60_000 },
      };
      await exchange(endpoint);
      nowMs = 59_999;
      expect((await exchange(endpoint, { method: "POST" })).reused).to.deep.equal([true]);
    });
  });

  describe("an idle connection", () => {
    for (const [name, act] of [
      ["ends", (server: RawServer) => server.peers[0]?.socket.end()],
      ["is reset", (server: RawServer) => server.peers[0]?.reset()],
      ["speaks", (server: RawServer) => server.peers[0]?.write("HTTP/1.1 200 OK\r\n\r\n")],
    ] as const) {
      it(`that ${name} is dropped at once`, async () => {
        const server = await start(answering(ok));
        await exchange(server.endpoint);
        expect(idlePool.size).to.equal(1);
        act(server);
        await until(() => idlePool.size === 0);
        const next = await exchange(server.endpoint);
        expect([next.reused, next.text]).to.deep.equal([[false], "ok"]);
      });
    }
  });

  describe("a pooled connection that is dead", () => {
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
        it(`is replaced once for ${method} (${how})`, async () => {
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

      it(`is not replaced for POST, which may have been acted on (${how})`, async () => {
        const server = await stale(how);
        await exchange(server.endpoint);
        const second = await exchange(server.endpoint, { method: "POST" });
        expect([second.reused, second.ends]).to.deep.equal([[true], ["error"]]);
        expect(second.error).to.include({ kind: "reset", requestSent: true });
        expect(server.peers).to.have.length(1);
      });

      it(`is not replaced once the body has been read (${how})`, async () => {
        const server = await stale(how);
        await exchange(server.endpoint);
        const body = new ManualBody(1, (self) => {
          self.push("x");
          self.end();
        });
        const second = await exchange(server.endpoint, { method: "PUT", body });
        expect([second.reused, second.ends, second.error?.kind]).to.deep.equal([[true], ["error"], "reset"]);
      });
    }

    it("is replaced while a body still waits for 100 Continue", async () => {
      const server = await stale("end");
      await exchange(server.endpoint);
      const body = new ManualBody(1, (self) => {
        self.push("x");
        self.end();
      });
      const second = await exchange(server.endpoint, { method: "PUT", body, expectContinue: true });
      expect([second.reused, second.ends]).to.deep.equal([[true, false], ["end"]]);
    });

    it("is not replaced after the first byte of an answer", async () => {
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

    it("is replaced by a new one, whose failure counts", async () => {
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

    it("is not replaced when the request was aborted", async () => {
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

  describe("retire", () => {
    it("closes idle connections at once and those in use after their response", async () => {
      const server = await start(RawServer.start());
      const [first, second] = [send(server.endpoint), send(server.endpoint)];
      await until(() => server.peers.filter(({ heads }) => heads === 1).length === 2);
      const [a, b] = server.peers;
      a?.write(ok);
      await Promise.race([first.recorder.done, second.recorder.done]);
      client.retire([server.endpoint]);
      await until(() => a?.closed === true);
      expect([b?.closed, idlePool.size]).to.deep.equal([false, 0]);
      b?.write(ok);
      await Promise.all([first.recorder.done, second.recorder.done]);
      await until(() => b?.closed === true);
      expect([first.recorder.text, second.recorder.text]).to.deep.equal(["ok", "ok"]);
    });

    it("leaves other endpoints alone", async () => {
      const [a, b] = [await start(answering(ok)), await start(answering(ok))];
      await exchange(a.endpoint);
      await exchange(b.endpoint);
      client.retire([a.endpoint]);
      expect((await exchange(b.endpoint)).reused).to.deep.equal([true]);
    });
  });

  it("gives up connections to addresses that a name no longer stands for", async () => {
    const server = await start(answering(ok));
    let addresses: Addresses = ["127.0.0.1"];
    const resolver: Resolver = {
      resolve: (_name, done) => done({ ok: true, value: addresses }),
      lastKnown: () => addresses,
    };
    client = createHttp1UpstreamClient(clientOptions({ idlePool, resolver }));
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
