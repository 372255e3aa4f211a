import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { once } from "node:events";
import { expect } from "chai";
import { udpBoundsOf, UdpPlaces } from "../../src/l4/udp-places.ts";
import { compileL4Table, type CompiledL4Route } from "../../src/l4/l4-table.ts";
import { UdpSessions, type UdpClient, type UdpSessionsOptions } from "../../src/l4/udp-sessions.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createResolver } from "../../src/upstream/resolver.ts";
import type { UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { eventually } from "../integration/gateway.ts";
import { createTestRegistry } from "./registry.ts";

const clientOf = (port: number, ip = "192.0.2.1"): UdpClient => ({ address: ip, port, ip });
const someBytes = Buffer.from("x");

describe("UdpSessions", () => {
  let nowMs: number;
  let backend: Socket;
  let received: { readonly text: string; readonly from: RemoteInfo }[];
  const open: UdpSessions[] = [];

  beforeEach(async () => {
    nowMs = 0;
    received = [];
    backend = createSocket("udp4");
    backend.on("message", (message, from) => received.push({ text: message.toString(), from }));
    backend.bind(0, "127.0.0.1");
    await once(backend, "listening");
  });

  afterEach(() => {
    for (const sessions of open.splice(0)) sessions.destroy();
    backend.close();
  });

  const start = (
    options: Partial<UdpSessionsOptions> = {},
    port = 5300,
  ): {
    readonly sessions: UdpSessions;
    readonly metrics: ReturnType<typeof createProxyMetrics>;
    readonly replies: string[];
    readonly route: CompiledL4Route;
    readonly endpoints: readonly UpstreamEndpoint[];
    dropped(reason: string): number;
    active(): number;
    /** The number of sessions that were evicted. */
    ended(): number;
  } => {
    const metrics = createProxyMetrics();
    const replies: string[] = [];
    const sessions = new UdpSessions(
      port,
      (message, client) => replies.push(`${client.port} ${message.toString()}`),
      {
        idleTimeoutMs: 10_000,
        places: new UdpPlaces({ all: 10, ofListener: 10 }),
        resolver: createResolver(),
        metrics,
        now: () => nowMs,
        ...options,
      },
    );
    open.push(sessions);
    const registry = createTestRegistry("ns/dns/53/udp", [backend.address().port]);
    const table = compileL4Table(
      {
        hosts: [
          {
            kind: "any",
            host: "*",
            mode: "passthrough",
            route: {
              id: "udproute/ns/dns:0",
              source: { kind: "UDPRoute", namespace: "ns", name: "dns" },
              backends: [{ weight: 1, service: "ns/dns", endpoints: "ns/dns/53/udp" }],
            },
          },
        ],
      },
      { upstreamOf: (name) => () => registry.get(name, "http1"), random: () => 0 },
    );
    const route = table.find("")?.route;
    if (route === undefined) throw new Error("no route");
    return {
      sessions,
      metrics,
      replies,
      route,
      endpoints: registry.get("ns/dns/53/udp", "http1").endpoints,
      dropped: (reason) => metrics.udpDatagramsDropped.with({ listener: String(port), reason }).value,
      active: () => metrics.udpSessionsActive.with({ listener: String(port) }).value,
      ended: () => metrics.limitsReached.with({ limit: "udp-sessions" }).value,
    };
  };

  it("a datagram from port 0, to which no answer can be sent, is dropped", () => {
    const { sessions, route, active, dropped } = start();
    sessions.receive(Buffer.from("a"), clientOf(0), route);
    expect([active(), dropped("source-port")]).to.deep.equal([0, 1]);
  });

  it("each client has a session with its own socket until it is idle for too long", async () => {
    const { sessions, route, active } = start();
    sessions.receive(Buffer.from("a"), clientOf(1), route);
    sessions.receive(Buffer.from("b"), clientOf(2), route);
    await eventually(() => received.length === 2);
    const [first, second] = received;
    expect(first?.from.port).not.to.equal(second?.from.port);
    nowMs = 9_999;
    sessions.receive(Buffer.from("c"), clientOf(1), route);
    await eventually(() => received.length === 3);
    const ofFirst = received.find(({ text }) => text === "a")?.from.port;
    expect(received[2]?.from.port).to.equal(ofFirst);
    nowMs = 10_000;
    sessions.sweep();
    expect(active()).to.equal(1);
    nowMs = 19_999;
    sessions.sweep();
    expect(active()).to.equal(0);
  });

  it("an answer goes to the client of its session and counts as activity", async () => {
    const { sessions, route, replies, active } = start();
    sessions.receive(Buffer.from("a"), clientOf(1), route);
    await eventually(() => received.length === 1);
    nowMs = 9_000;
    backend.send("answer", received[0]?.from.port ?? 0, "127.0.0.1");
    await eventually(() => replies.length === 1);
    expect(replies).to.deep.equal(["1 answer"]);
    nowMs = 18_000;
    sessions.sweep();
    expect(active()).to.equal(1);
  });

  it("datagrams that do not come from the session's endpoint are ignored", async () => {
    const { sessions, route, replies } = start();
    sessions.receive(Buffer.from("a"), clientOf(1), route);
    await eventually(() => received.length === 1);
    const port = received[0]?.from.port ?? 0;
    const otherSender = createSocket("udp4");
    await new Promise<void>((resolve) => otherSender.send("forged", port, "127.0.0.1", () => resolve()));
    backend.send("real", port, "127.0.0.1");
    await eventually(() => replies.length > 0);
    expect(replies).to.deep.equal(["1 real"]);
    otherSender.close();
  });

  it("datagrams of clients beyond the session limit are dropped until a session has ended", async () => {
    const { sessions, route, dropped, active } = start({
      places: new UdpPlaces({ all: 1, ofListener: 1 }),
    });
    sessions.receive(Buffer.from("a"), clientOf(1), route);
    sessions.receive(Buffer.from("b"), clientOf(2), route);
    expect([active(), dropped("session-limit")]).to.deep.equal([1, 1]);
    nowMs = 10_000;
    sessions.sweep();
    sessions.receive(Buffer.from("c"), clientOf(2), route);
    await eventually(() => received.some(({ text }) => text === "c"));
    expect(dropped("session-limit")).to.equal(1);
  });

  it("a session is evicted from the network with the most for another network", () => {
    const { sessions, route, dropped, active, ended } = start({
      places: new UdpPlaces({ all: 4, ofListener: 3 }),
    });
    for (const port of [1, 2, 3, 4]) sessions.receive(someBytes, clientOf(port), route);
    expect([active(), dropped("session-limit"), ended()]).to.deep.equal([3, 1, 0]);
    sessions.receive(someBytes, clientOf(1, "2001:db8::1"), route);
    expect([active(), dropped("session-limit"), ended()]).to.deep.equal([3, 1, 1]);
    // The same network as the one before, which would then have as many as the other.
    sessions.receive(someBytes, clientOf(1, "2001:db8::2"), route);
    expect([active(), dropped("session-limit"), ended()]).to.deep.equal([3, 2, 1]);
    // The oldest of the first network was ended: it begins again, and finds no place.
    sessions.receive(someBytes, clientOf(1), route);
    expect([active(), dropped("session-limit")]).to.deep.equal([3, 3]);
    sessions.receive(someBytes, clientOf(2), route);
    expect(dropped("session-limit")).to.equal(3);
  });

  it("a session is evicted from the listener with the most for another listener, from any number of addresses", () => {
    const places = new UdpPlaces({ all: 6, ofListener: 6 });
    const flooded = start({ places });
    const other = start({ places }, 5301);
    for (let i = 0; i < 20; i++)
      flooded.sessions.receive(someBytes, clientOf(1, `192.0.2.${i}`), flooded.route);
    expect([flooded.active(), flooded.dropped("session-limit")]).to.deep.equal([6, 14]);
    for (let i = 0; i < 5; i++) other.sessions.receive(someBytes, clientOf(1, `192.0.2.${i}`), other.route);
    expect([flooded.active(), other.active(), other.dropped("session-limit")]).to.deep.equal([3, 3, 2]);
    expect(flooded.ended()).to.equal(3);
    // What ends gives its place back.
    other.sessions.destroy();
    for (let i = 0; i < 20; i++)
      flooded.sessions.receive(someBytes, clientOf(2, `192.0.2.${i}`), flooded.route);
    expect([flooded.active(), other.active()]).to.deep.equal([6, 0]);
  });

  it("a session that was idle for a quarter of its timeout is evicted for any new one", () => {
    const { sessions, route, active, dropped, ended } = start({
      places: new UdpPlaces({ all: 2, ofListener: 2 }),
      idleTimeoutMs: 10_000,
    });
    sessions.receive(someBytes, clientOf(1), route);
    sessions.receive(someBytes, clientOf(2, "192.0.2.2"), route);
    nowMs = 2_499;
    sessions.receive(someBytes, clientOf(3, "192.0.2.3"), route);
    expect([ended(), dropped("session-limit")]).to.deep.equal([0, 1]);
    sessions.receive(someBytes, clientOf(1), route);
    nowMs = 2_500;
    sessions.receive(someBytes, clientOf(3, "192.0.2.3"), route);
    sessions.receive(someBytes, clientOf(1), route);
    expect([active(), ended(), dropped("session-limit")]).to.deep.equal([2, 1, 1]);
    sessions.receive(someBytes, clientOf(2, "192.0.2.2"), route);
    expect([ended(), dropped("session-limit")]).to.deep.equal([1, 2]);
  });

  it("a session keeps 16 datagrams until its socket is open", async () => {
    const { sessions, route, dropped } = start();
    for (let i = 0; i < 20; i++) sessions.receive(Buffer.from(String(i)), clientOf(1), route);
    expect(dropped("overflow")).to.equal(4);
    await eventually(() => received.length === 16);
  });

  it("datagrams without a route or an endpoint are dropped", () => {
    const { sessions, dropped } = start();
    const route: CompiledL4Route["route"] = {
      id: "r",
      source: { kind: "UDPRoute", namespace: "ns", name: "r" },
      backends: [],
    };
    const registry = createTestRegistry("ns/dns/53/udp", []);
    sessions.receive(Buffer.from("a"), clientOf(1), undefined);
    sessions.receive(Buffer.from("a"), clientOf(1), { route, pickUpstream: () => undefined });
    sessions.receive(Buffer.from("a"), clientOf(1), {
      route,
      pickUpstream: () => registry.get("ns/dns/53/udp", "http1"),
    });
    expect([dropped("no-route"), dropped("no-endpoint")]).to.deep.equal([2, 1]);
  });

  it("a session ends when its backend or endpoint is removed, and when the endpoint refuses", async () => {
    const { sessions, route, endpoints, active, metrics } = start();
    sessions.receive(Buffer.from("a"), clientOf(1), route);
    sessions.follow({ ...route, route: { ...route.route, id: "udproute/ns/other:0" } });
    expect(active()).to.equal(1);
    const unweighted = route.route.backends.map((one) => ({ ...one, weight: 0 }));
    sessions.follow({ ...route, route: { ...route.route, backends: unweighted } });
    expect(active()).to.equal(0);
    sessions.receive(Buffer.from("b"), clientOf(1), route);
    sessions.retire(new Set(endpoints));
    expect(active()).to.equal(0);
    // A socket with one peer refuses all others, and keeps its port from other processes.
    await new Promise<void>((resolve) => backend.connect(1, "127.0.0.1", resolve));
    sessions.receive(Buffer.from("c"), clientOf(1), route);
    await eventually(() => active() === 0);
    const labels = {
      listener: "5300",
      route: route.route.id,
      upstream: "ns/dns",
      error_type: "refused",
    } as const;
    expect(metrics.upstreamErrors.with(labels).value).to.equal(1);
  });

  it("draining sessions continue, and no new ones are opened", async () => {
    const { sessions, route, dropped } = start();
    sessions.receive(Buffer.from("a"), clientOf(1), route);
    let drained = false;
    const draining = sessions.drain().then(() => (drained = true));
    sessions.receive(Buffer.from("b"), clientOf(2), route);
    sessions.receive(Buffer.from("c"), clientOf(1), route);
    await eventually(() => received.length === 2);
    expect([dropped("draining"), drained]).to.deep.equal([1, false]);
    nowMs = 10_000;
    sessions.sweep();
    await draining;
  });
});

describe("the number of UDP sessions", () => {
  const alone = (total: number): number => total;

  it("UDP sessions are bounded by their share of the descriptors of the process", () => {
    expect(udpBoundsOf(4_000, alone)).to.deep.equal({ all: 4_000, ofListener: 4_000 });
    expect(udpBoundsOf(30_000, alone)).to.deep.equal({ all: 30_000, ofListener: 20_000 });
  });

  it("UDP sessions have fixed bounds where there are many descriptors", () => {
    expect(udpBoundsOf(Number.POSITIVE_INFINITY, alone)).to.deep.equal({ all: 40_000, ofListener: 20_000 });
  });

  it("the bounds of UDP sessions are divided among the workers", () => {
    expect(udpBoundsOf(1_000, (total) => total / 4)).to.deep.equal({ all: 250, ofListener: 250 });
  });
});
