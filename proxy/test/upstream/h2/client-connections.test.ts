import { once } from "node:events";
import { expect } from "chai";
import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { createIdlePool } from "../../../src/upstream/idle-pool.ts";
import { until } from "../../http/h2/support.ts";
import type { Resolver } from "../../../src/upstream/resolver.ts";
import { benchForEach } from "./bench.ts";
import { createClient, endpointOf, exchange, startBackend } from "./support.ts";

describeHttp2Codecs("HTTP/2 upstream client: connections", () => {
  const bench = benchForEach();

  it("the HTTP/2 client multiplexes requests on one connection and reports its reuse", async () => {
    bench.hold();
    const first = exchange(bench.client, bench.backend.port);
    await until(() => bench.streams.length === 1);
    const others = Array.from({ length: 20 }, () => exchange(bench.client, bench.backend.port));
    await until(() => bench.streams.length === 21);
    expect(bench.backend.sessions).to.have.length(1);
    for (const stream of bench.streams) stream.respond({ ":status": 200 }, { endStream: true });
    expect((await first.settled).connections).to.deep.equal([false]);
    for (const other of others) expect((await other.settled).connections).to.deep.equal([true]);
  });

  it("the HTTP/2 client opens another connection at the server's stream limit, at most eight", async () => {
    await bench.backend.close();
    bench.backend = await startBackend((stream) => bench.streams.push(stream), { maxConcurrentStreams: 2 });
    const sent = Array.from({ length: 20 }, () => exchange(bench.client, bench.backend.port));
    // Requests that come while a connection is being opened open no more of them than others.
    while (bench.streams.length < 16) {
      if (sent.length < 200) sent.push(exchange(bench.client, bench.backend.port));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(bench.backend.sessions).to.have.length(8);
    for (let answered = 0; answered < sent.length; answered++) {
      await until(() => bench.streams.length > answered);
      bench.streams[answered]?.respond({ ":status": 200 }, { endStream: true });
    }
    for (const one of sent) expect((await one.settled).ended).to.equal(true);
    expect(bench.backend.sessions).to.have.length(8);
  });

  it("connections of retired endpoints close: idle ones at once, busy ones after their last response", async () => {
    bench.hold();
    const idle = await startBackend((stream) => stream.respond({ ":status": 200 }, { endStream: true }));
    await exchange(bench.client, idle.port).settled;
    const sent = exchange(bench.client, bench.backend.port);
    await until(() => bench.streams.length === 1);
    const closed = [...idle.sessions, ...bench.backend.sessions].map((session) => once(session, "close"));
    bench.client.retire([endpointOf(idle.port), endpointOf(bench.backend.port)]);
    await closed[0];
    bench.streams[0]?.respond({ ":status": 200 });
    bench.streams[0]?.end("late");
    expect((await sent.settled).body).to.equal("late");
    await closed[1];
    await idle.close();
  });

  it("a request to an endpoint that was retired after the pick is served, and its connection is not kept", async () => {
    bench.client.retire([endpointOf(bench.backend.port)]);
    for (let i = 1; i <= 2; i++) {
      expect((await exchange(bench.client, bench.backend.port).settled).connections).to.deep.equal([false]);
      await until(
        () => bench.backend.sessions.length === i && bench.backend.sessions.every(({ closed }) => closed),
      );
    }
  });

  it("the HTTP/2 client keeps an idle connection until the idle timeout of its Service", async () => {
    bench.client.close();
    let nowMs = 0;
    const idlePool = createIdlePool(8, () => nowMs);
    bench.client = createClient({ idlePool });
    const endpoint = endpointOf(bench.backend.port);
    const limited = { ...endpoint, limits: { connectTimeoutMs: undefined, idleTimeoutMs: 1_000 } };
    const use = async (): Promise<readonly boolean[]> => {
      const { connections } = await exchange(bench.client, limited).settled;
      await until(() => idlePool.size === 1);
      return connections;
    };
    expect(await use()).to.deep.equal([false]);
    nowMs = 999;
    expect(await use()).to.deep.equal([true]);
    nowMs = 1_999;
    const { connections } = await exchange(bench.client, limited).settled;
    expect(connections).to.deep.equal([false]);
  });

  it("idle HTTP/2 connections are in the shared pool, which may close them", async () => {
    bench.client.close();
    const idlePool = createIdlePool(1);
    bench.client = createClient({ idlePool });
    const second = await startBackend((stream) => stream.respond({ ":status": 200 }, { endStream: true }));
    await exchange(bench.client, bench.backend.port).settled;
    await until(() => idlePool.size === 1);
    const closed = once(bench.backend.sessions[0] as NodeJS.EventEmitter, "close");
    await exchange(bench.client, second.port).settled;
    await closed;
    expect(idlePool.size).to.equal(1);
    const again = await exchange(bench.client, second.port).settled;
    expect(again.connections).to.deep.equal([true]);
    bench.client.close();
    await until(() => idlePool.size === 0);
    await second.close();
  });

  it("a connection to an address that a name no longer has takes no more requests, and ends with its last response", async () => {
    let addresses: readonly string[] = ["127.0.0.1"];
    const resolver: Resolver = {
      resolve: (_, done) => done({ ok: true, value: addresses }),
      lastKnown: () => addresses,
    };
    const client = createClient({ resolver });
    const byName = { host: "upstream.test", port: bench.backend.port, address: "upstream.test" };
    bench.hold();
    const first = exchange(client, byName);
    await until(() => bench.streams.length === 1);
    addresses = ["127.0.0.2", "127.0.0.1"];
    const second = exchange(client, byName);
    await until(() => bench.streams.length === 2);
    expect(bench.backend.sessions).to.have.length(1);
    // The same backend, at another address.
    addresses = ["::ffff:127.0.0.1"];
    const third = exchange(client, byName);
    await until(() => bench.streams.length === 3);
    const sessions = [...bench.backend.sessions];
    expect(sessions).to.have.length(2);
    const closed = once(sessions[0] as (typeof sessions)[number], "close");
    for (const stream of bench.streams) stream.respond({ ":status": 200 }, { endStream: true });
    for (const sent of [first, second, third]) expect((await sent.settled).head?.status).to.equal(200);
    await closed;
    bench.handler = (stream) => stream.respond({ ":status": 200 }, { endStream: true });
    expect((await exchange(client, byName).settled).connections).to.deep.equal([true]);
    client.close();
  });

  it("close() fails HTTP/2 requests in flight", async () => {
    bench.hold();
    const open = exchange(bench.client, bench.backend.port);
    await until(() => bench.streams.length === 1);
    bench.client.close();
    expect((await open.settled).error?.kind).to.equal("reset");
  });
});
