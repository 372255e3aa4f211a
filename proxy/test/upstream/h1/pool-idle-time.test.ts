import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { createIdlePool } from "../../../src/upstream/idle-pool.ts";
import { answering, ManualBody, RawServer, until } from "../support.ts";
import { benchForEach, ok } from "./harness.ts";

describe("the idle timeout of HTTP/1.1 backends", () => {
  const bench = benchForEach();
  const { exchange, start } = bench;
  let nowMs = 0;

  beforeEach(() => {
    nowMs = 0;
    bench.restart({ idlePool: createIdlePool(8, () => nowMs) });
  });

  const announcing = (field: string) =>
    start(answering(`HTTP/1.1 200 OK\r\nKeep-Alive: ${field}\r\nContent-Length: 2\r\n\r\nok`));

  it("the keep-alive timeout that a Node.js server announces is respected", async () => {
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

  it("an announced keep-alive timeout also counts after responses that do not repeat it", async () => {
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

  it("the pool closes idle connections when their announced timeout is over", async () => {
    const server = await announcing("timeout=5");
    await exchange(server.endpoint);
    bench.idlePool.closeExpired(3_999);
    expect(bench.idlePool.size).to.equal(1);
    bench.idlePool.closeExpired(4_000);
    await until(() => server.peers[0]?.closed === true);
  });

  it("an announced keep-alive timeout counts only where it is shorter than the limit of the Service", async () => {
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
    it(`a connection announced with ${field} is not kept`, async () => {
      const server = await announcing(field);
      await exchange(server.endpoint);
      await until(() => server.peers[0]?.closed === true);
      expect(bench.idlePool.size).to.equal(0);
    });
  }

  const oneByte = (): ManualBody =>
    new ManualBody(1, (self) => {
      self.push("x");
      self.end();
    });

  it("without an announced timeout, only requests that can be repeated use a connection idle for more than a second", async () => {
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
      expect(bench.idlePool.size).to.equal(1);
      nowMs += 1_001;
    }
  });

  it("a configured idle timeout of the Service lets a POST use a connection that has been idle for long", async () => {
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
