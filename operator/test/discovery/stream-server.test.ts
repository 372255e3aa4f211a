import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import {
  Ack,
  Check,
  ClientMessage,
  HealthReport,
  NodeStatus,
} from "@svc-gateway/proto/generated/discovery.js";
import { startRelay } from "../../../common/test/relay.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import {
  ready,
  sharedToken,
  startController,
  stopController,
  stopControllers,
  type TestController,
  type TestControllerOptions,
} from "./support/controller.ts";
import {
  bootstrap,
  closeClients,
  gatewayScope,
  openRawStream,
  sharedScope,
  subscribe,
  type RawStream,
  type TestIdentity,
} from "./support/raw-client.ts";
import { createTestKey } from "./support/signing-request.ts";

const shared = { kind: "shared" } as const;
const gateway = (name: string) => ({ kind: "dedicated", gateway: { namespace: "team", name } }) as const;

describe("Stream", () => {
  let controller: TestController;
  let trust: string;
  let identity: TestIdentity;

  const start = async (options: TestControllerOptions = {}): Promise<void> => {
    controller = await startController(options);
    trust = await ready(controller);
    identity = await identityOf(sharedToken);
  };
  const identityOf = async (token: string): Promise<TestIdentity> => {
    const answer = await bootstrap(controller.ports.bootstrapPort, trust, { token });
    if (answer.error !== undefined) throw answer.error;
    return answer.identity;
  };
  const open = (shown: TestIdentity | undefined = identity): RawStream =>
    openRawStream(controller.ports.streamPort, trust, shown);
  const publish = (states: Readonly<Record<string, number>>): void =>
    controller.server.cache.publish([[shared, snapshotOf(states)]]);
  const received = async (stream: RawStream, count: number): Promise<void> => {
    await until(() => stream.messages.length >= count || stream.status() !== undefined, `${count} messages`);
    expect(stream.status()).to.equal(undefined);
  };
  const ended = async (stream: RawStream): Promise<status | undefined> => {
    await until(() => stream.status() !== undefined, "the end of the stream");
    return stream.status()?.code;
  };
  const subscribed = async (nodeId: string, shown = identity, scope = sharedScope()): Promise<RawStream> => {
    const stream = open(shown);
    stream.send(subscribe(nodeId, scope));
    await received(stream, 1);
    return stream;
  };
  const acked = async (stream: RawStream): Promise<void> => {
    const before = controller.metrics.acks.with({}).value;
    stream.ack();
    await until(() => controller.metrics.acks.with({}).value > before, "the acknowledgement");
  };

  afterEach(async () => {
    closeClients();
    await stopControllers();
  });

  it("tells of every proxy that comes and goes, and why it went", async () => {
    const log = fakeLog();
    await start({ log });
    publish({ a: 1 });
    const lost = await subscribed("pod-1");
    lost.cancel();
    await until(() => log.lines.some(({ message }) => message === "proxy disconnected"), "its end");
    const first = await subscribed("pod-2");
    await subscribed("pod-2");
    await ended(first);
    await stopController(controller.server);
    const told = log.lines.filter(({ message }) => message.startsWith("proxy "));
    expect(
      told.map(({ level, message, fields }) => [level, message, fields["node"], fields["reason"]]),
    ).to.deep.equal([
      ["info", "proxy connected", "pod-1", undefined],
      ["info", "proxy disconnected", "pod-1", "the proxy is gone"],
      ["info", "proxy connected", "pod-2", undefined],
      ["info", "proxy disconnected", "pod-2", "replaced by a newer stream"],
      ["info", "proxy connected", "pod-2", undefined],
      ["info", "proxy disconnected", "pod-2", "this replica is stopping"],
    ]);
  });

  describe("snapshots", () => {
    beforeEach(() => start());

    it("sends a full one first, then deltas, each when the one before was acknowledged", async () => {
      publish({ a: 1, b: 1 });
      const stream = await subscribed("pod-1");
      expect(stream.messages[0]?.leading).to.equal(true);
      expect(stream.messages[0]?.snapshot.full).to.equal(true);
      expect(stream.messages[0]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
        "endpoints|default/a/80",
        "endpoints|default/b/80",
      ]);
      await acked(stream);
      publish({ a: 2 });
      await received(stream, 2);
      expect(stream.messages[1]?.snapshot.full).to.equal(false);
      expect(stream.messages[1]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
        "endpoints|default/a/80",
      ]);
      expect(stream.messages[1]?.snapshot.removed).to.deep.equal(["endpoints|default/b/80"]);
      expect(stream.messages[1]?.snapshot.version).to.equal(snapshotOf({ a: 2 }).version);
      expect(controller.metrics.snapshotMessages.with({ kind: "full" }).value).to.equal(1);
      expect(controller.metrics.snapshotMessages.with({ kind: "delta" }).value).to.equal(1);
    });

    it("merges what changes while a slow proxy has not answered", async () => {
      publish({ a: 1 });
      const stream = await subscribed("pod-1");
      for (let state = 2; state <= 100; state += 1) publish({ a: state });
      await acked(stream);
      await received(stream, 2);
      expect(stream.messages).to.have.length(2);
      expect(stream.messages[1]?.snapshot.version).to.equal(snapshotOf({ a: 100 }).version);
    });

    it("answers a refusal with a full one", async () => {
      publish({ a: 1 });
      const stream = await subscribed("pod-1");
      await acked(stream);
      publish({ a: 2 });
      await received(stream, 2);
      stream.nack("no such thing");
      await received(stream, 3);
      expect(stream.messages[2]?.snapshot.full).to.equal(true);
      expect(controller.server.fleet.node("pod-1")?.lastAckedVersion).to.equal(snapshotOf({ a: 1 }).version);
      await acked(stream);
      expect(controller.server.fleet.node("pod-1")?.isInSync).to.equal(true);
    });

    it("carries an empty one, too", async () => {
      publish({});
      const stream = await subscribed("pod-1");
      expect(stream.messages[0]?.snapshot.full).to.equal(true);
      expect(stream.messages[0]?.snapshot.resources).to.deep.equal([]);
    });

    it("gives a dedicated proxy its own scope and nothing else", async () => {
      controller.gateways.push(
        { gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" },
        { gateway: { namespace: "team", name: "b" }, serviceAccount: "b-svc" },
      );
      controller.server.cache.publish([
        [shared, snapshotOf({ secret: 1 })],
        [gateway("a"), snapshotOf({ own: 1 })],
        [gateway("b"), snapshotOf({ foreign: 1 })],
      ]);
      const stream = await subscribed(
        "pod-a",
        await identityOf("token:team:a-svc"),
        gatewayScope("team", "a"),
      );
      expect(stream.messages[0]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
        "endpoints|default/own/80",
      ]);
      await acked(stream);
      controller.server.cache.publish([
        [shared, snapshotOf({ secret: 2 })],
        [gateway("a"), snapshotOf({ own: 2 })],
        [gateway("b"), snapshotOf({ foreign: 2 })],
      ]);
      await received(stream, 2);
      expect(stream.messages[1]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
        "endpoints|default/own/80",
      ]);
    });

    it("ends the stream of a proxy whose Gateway is gone", async () => {
      controller.gateways.push({ gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" });
      controller.server.cache.publish([[gateway("a"), snapshotOf({ own: 1 })]]);
      const stream = await subscribed(
        "pod-a",
        await identityOf("token:team:a-svc"),
        gatewayScope("team", "a"),
      );
      controller.gateways.length = 0;
      controller.server.cache.publish([]);
      expect(await ended(stream)).to.equal(status.PERMISSION_DENIED);
    });
  });

  describe("peers", () => {
    beforeEach(async () => {
      await start();
      controller.gateways.push(
        { gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" },
        { gateway: { namespace: "team", name: "b" }, serviceAccount: "b-svc" },
      );
      controller.server.cache.publish([
        [shared, snapshotOf({ x: 1 })],
        [gateway("a"), snapshotOf({ a: 1 })],
        [gateway("b"), snapshotOf({ b: 1 })],
      ]);
    });

    const refusedConnection = async (shown: TestIdentity | undefined): Promise<void> => {
      const stream = openRawStream(controller.ports.streamPort, trust, shown);
      stream.send(subscribe("pod-1"));
      expect(await ended(stream)).to.equal(status.UNAVAILABLE);
      expect(stream.messages).to.deep.equal([]);
      await until(() => controller.streamCount("rejected") > 0, "the rejection is counted");
      expect(controller.streamCount("accepted")).to.equal(0);
    };

    it("must show a certificate", () => refusedConnection(undefined));

    it("must show one that a trusted authority has signed", async () => {
      const other = await startController();
      const otherTrust = await ready(other);
      const forged = await bootstrap(other.ports.bootstrapPort, otherTrust, { token: sharedToken });
      await refusedConnection(forged.identity);
    });

    it("must show one for clients: the controller's own is not", async () => {
      const { loadCertificateAuthority } =
        await import("@svc-gateway/operator/discovery/certificate-authority.ts");
      const content = controller.store.content();
      if (content === undefined) throw new Error("no authority");
      const authority = await loadCertificateAuthority("cluster.local", content);
      if (!authority.ok) throw new Error(authority.error.message);
      const key = createTestKey();
      const { chainPem } = await authority.value.issueServerCertificate({
        publicKey: key.publicKey,
        identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
        dnsNames: [],
        nowMs: Date.now(),
        lifetimeMs: 3_600_000,
      });
      await refusedConnection({ chainPem, privateKeyPem: key.privateKeyPem });
    });

    it("must show one that is valid still", async () => {
      const { loadCertificateAuthority } =
        await import("@svc-gateway/operator/discovery/certificate-authority.ts");
      const content = controller.store.content();
      if (content === undefined) throw new Error("no authority");
      const authority = await loadCertificateAuthority("cluster.local", content);
      if (!authority.ok) throw new Error(authority.error.message);
      const key = createTestKey();
      const { chainPem } = await authority.value.issueSvid({
        publicKey: key.publicKey,
        identity: { namespace: "svc-system", serviceAccount: "svc-shared-proxy" },
        nowMs: Date.now() - 3_600_000,
        lifetimeMs: 1_800_000,
      });
      await refusedConnection({ chainPem, privateKeyPem: key.privateKeyPem });
    });

    const wrongScopes = [
      { who: "the shared pool asks for a Gateway", token: sharedToken, scope: gatewayScope("team", "a") },
      { who: "a Gateway asks for the shared pool", token: "token:team:a-svc", scope: sharedScope() },
      { who: "a Gateway asks for another one", token: "token:team:a-svc", scope: gatewayScope("team", "b") },
      {
        who: "a Gateway asks for one that does not exist",
        token: "token:team:a-svc",
        scope: gatewayScope("team", "c"),
      },
    ];
    for (const { who, token, scope } of wrongScopes) {
      it(`may have only their own scope: ${who}`, async () => {
        const stream = open(await identityOf(token));
        stream.send(subscribe("pod-1", scope));
        expect(await ended(stream)).to.equal(status.PERMISSION_DENIED);
        expect(stream.messages).to.deep.equal([]);
        expect(controller.streamCount("rejected")).to.equal(1);
        expect(controller.server.fleet.nodes()).to.deep.equal([]);
      });
    }

    it("may not take the name of a proxy of another identity", async () => {
      const first = await subscribed("pod-1");
      const stranger = open(await identityOf("token:team:a-svc"));
      stranger.send(subscribe("pod-1", gatewayScope("team", "a")));
      expect(await ended(stranger)).to.equal(status.ALREADY_EXISTS);
      await acked(first);
      expect(controller.metrics.connectedProxies.with({}).value).to.equal(1);
    });

    it("take the place of their own older stream, which ends without an error", async () => {
      const old = await subscribed("pod-1");
      const fresh = await subscribed("pod-1");
      expect(await ended(old)).to.equal(status.OK);
      await acked(fresh);
      await until(() => controller.metrics.connectedProxies.with({}).value === 1, "one stream is left");
      expect(controller.server.fleet.node("pod-1")?.isInSync).to.equal(true);
    });

    it("are bounded in number", async () => {
      await stopControllers();
      await start({
        streamLimits: {
          maxConnections: 10,
          maxConnectionsPerAddress: 2,
          handshakeTimeoutMs: 10_000,
          maxStreams: 1,
        },
      });
      publish({ x: 1 });
      const first = await subscribed("pod-1");
      const second = open();
      second.send(subscribe("pod-2"));
      expect(await ended(second)).to.equal(status.INTERNAL);
      const third = open();
      third.send(subscribe("pod-3"));
      expect(await ended(third)).to.equal(status.UNAVAILABLE);
      await acked(first);
    });
  });

  describe("messages", () => {
    beforeEach(async () => {
      await start();
      publish({ a: 1 });
    });

    const firstMessages: readonly (readonly [string, ClientMessage, status])[] = [
      ["wire version 0", subscribe("pod-1", sharedScope(), 0), status.FAILED_PRECONDITION],
      ["wire version 1", subscribe("pod-1", sharedScope(), 1), status.FAILED_PRECONDITION],
      ["wire version 3", subscribe("pod-1", sharedScope(), 3), status.FAILED_PRECONDITION],
      ["a node without a name", subscribe(""), status.INVALID_ARGUMENT],
      ["a node whose name is no pod name", subscribe("Pod/1"), status.INVALID_ARGUMENT],
      ["a Gateway without a name", subscribe("pod-1", gatewayScope("team", "")), status.INVALID_ARGUMENT],
      ["another message first", new ClientMessage({ ack: new Ack() }), status.INVALID_ARGUMENT],
      ["nothing that is known", new ClientMessage(), status.INVALID_ARGUMENT],
    ];
    for (const [what, message, code] of firstMessages) {
      it(`refuses ${what} at the start with ${status[code]}`, async () => {
        const stream = open();
        stream.send(message);
        expect(await ended(stream)).to.equal(code);
        expect(stream.messages).to.deep.equal([]);
        expect(controller.streamCount("rejected")).to.equal(1);
      });
    }

    it("refuses a subscription without a scope, and bytes that are no message", async () => {
      const { Subscribe } = await import("@svc-gateway/proto/generated/discovery.js");
      const scopeless = open();
      scopeless.send(new ClientMessage({ subscribe: new Subscribe({ node_id: "pod-1", wire_version: 2 }) }));
      expect(await ended(scopeless)).to.equal(status.INVALID_ARGUMENT);
      const garbage = open();
      garbage.sendBytes(Buffer.of(0xff, 0xff));
      expect(await ended(garbage)).to.equal(status.INVALID_ARGUMENT);
    });

    it("ends a stream that subscribes twice, sends garbage or names an impossible port", async () => {
      const twice = await subscribed("pod-1");
      twice.send(subscribe("pod-1"));
      expect(await ended(twice)).to.equal(status.INVALID_ARGUMENT);
      const garbage = await subscribed("pod-2");
      garbage.sendBytes(Buffer.of(0xff));
      expect(await ended(garbage)).to.equal(status.INVALID_ARGUMENT);
      const ports = await subscribed("pod-3");
      ports.send(new ClientMessage({ node_status: new NodeStatus({ bound_ports: [80, 70_000] }) }));
      expect(await ended(ports)).to.equal(status.INVALID_ARGUMENT);
    });

    it("ignores messages and answers that it does not know", async () => {
      const stream = await subscribed("pod-1");
      stream.sendBytes(Buffer.of(0x7a, 1, 0));
      stream.send(new ClientMessage({ ack: new Ack({ version: "x", nonce: Uint8Array.of(1) }) }));
      await acked(stream);
      expect(controller.metrics.acks.with({}).value).to.equal(1);
    });

    it("refuses messages of more than 1 MiB", async () => {
      const stream = await subscribed("pod-1");
      stream.sendBytes(Buffer.alloc(1024 * 1024 + 1));
      expect(await ended(stream)).to.equal(status.RESOURCE_EXHAUSTED);
    });

    it("ends the stream of a proxy that sends without end", async () => {
      const stream = await subscribed("pod-1");
      for (let count = 0; count < 1100; count += 1) stream.send(new ClientMessage());
      expect(await ended(stream)).to.equal(status.INTERNAL);
    });

    it("keeps what a proxy reports, and forgets it with the stream", async () => {
      const stream = await subscribed("pod-1");
      stream.send(new ClientMessage({ node_status: new NodeStatus({ bound_ports: [443, 80, 443] }) }));
      const check = new Check({
        subsystem: "proxy",
        name: "routing_table_loaded",
        state: "Ready",
        reason: "",
      });
      stream.send(
        new ClientMessage({ health_report: new HealthReport({ version: "1.0.0", checks: [check] }) }),
      );
      await until(() => controller.server.fleet.node("pod-1")?.health === "ready", "the report");
      expect(controller.server.fleet.node("pod-1")?.boundPorts).to.deep.equal([80, 443]);
      stream.cancel();
      await until(() => controller.server.fleet.node("pod-1") === undefined, "the proxy is gone");
      expect(controller.metrics.connectedProxies.with({}).value).to.equal(0);
    });

    it("lets a proxy say goodbye", async () => {
      const stream = await subscribed("pod-1");
      stream.halfClose();
      expect(await ended(stream)).to.equal(status.OK);
      expect(controller.server.fleet.nodes()).to.deep.equal([]);
    });
  });

  describe("leadership", () => {
    it("is in each message, and a change is told by a message without a snapshot", async () => {
      await start();
      publish({ a: 1 });
      controller.leadership.set(false);
      const stream = await subscribed("pod-1");
      expect(stream.messages[0]?.leading).to.equal(false);
      controller.leadership.set(true);
      await received(stream, 2);
      expect(stream.messages[1]?.leading).to.equal(true);
      expect(stream.messages[1]?.has_snapshot).to.equal(false);
      await acked(stream);
      controller.leadership.set(true);
      publish({ a: 2 });
      await received(stream, 3);
      expect(stream.messages[2]?.leading).to.equal(true);
      expect(stream.messages[2]?.has_snapshot).to.equal(true);
      expect(stream.messages).to.have.length(3);
    });
  });

  describe("time", () => {
    it("refuses a stream that does not subscribe within ten seconds", async () => {
      const clock = createManualClock();
      await start({ clock });
      publish({ a: 1 });
      const stream = open();
      stream.sendBytes(Buffer.alloc(0)); // no field: nothing that is known
      expect(await ended(stream)).to.equal(status.INVALID_ARGUMENT);
      const silent = open();
      const before = clock.pending();
      await until(() => clock.pending() > before, "the silent stream is waited for");
      await clock.advance(10_000);
      expect(await ended(silent)).to.equal(status.INVALID_ARGUMENT);
    });

    it("ends a stream when its certificate ends", async () => {
      const clock = createManualClock();
      await start({ clock, svidLifetimeMs: 600_000 });
      publish({ a: 1 });
      const stream = await subscribed("pod-1");
      await clock.advance(599_000);
      await acked(stream);
      await clock.advance(2_000);
      expect(await ended(stream)).to.equal(status.PERMISSION_DENIED);
    });

    it("notices a peer that has vanished without a word", async () => {
      await start({ keepalive: { intervalMs: 200, timeoutMs: 1_000 } });
      publish({ a: 1 });
      const relay = await startRelay({ host: "127.0.0.1", port: controller.ports.streamPort });
      try {
        const stream = openRawStream(relay.port, trust, identity);
        stream.send(subscribe("pod-1"));
        await received(stream, 1);
        relay.freeze();
        await until(() => controller.server.fleet.nodes().length === 0, "the controller notices");
        expect(controller.metrics.connectedProxies.with({}).value).to.equal(0);
      } finally {
        await relay.close();
      }
    });
  });

  describe("a replica", () => {
    it("that does not know the world yet answers UNAVAILABLE", async () => {
      await start();
      const early = open();
      early.send(subscribe("pod-1"));
      expect(await ended(early)).to.equal(status.UNAVAILABLE);
      publish({ a: 1 });
      await subscribed("pod-1");
    });

    it("that has no snapshot for an expected proxy yet answers UNAVAILABLE", async () => {
      await start();
      controller.gateways.push({ gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" });
      publish({ a: 1 });
      const stream = open(await identityOf("token:team:a-svc"));
      stream.send(subscribe("pod-a", gatewayScope("team", "a")));
      expect(await ended(stream)).to.equal(status.UNAVAILABLE);
    });

    it("that stops ends its streams with UNAVAILABLE", async () => {
      await start();
      publish({ a: 1 });
      const stream = await subscribed("pod-1");
      await stopController(controller.server);
      expect(await ended(stream)).to.equal(status.UNAVAILABLE);
      expect(stream.status()?.details).to.equal("this replica is stopping");
      expect(controller.metrics.connectedProxies.with({}).value).to.equal(0);
    });

    it("serves the bytes that another one with the same world serves", async () => {
      await start();
      publish({ b: 1, a: 1 });
      const stream = await subscribed("pod-1");
      const other = await startController({ store: controller.store, leading: false });
      await ready(other);
      other.server.cache.publish([[shared, snapshotOf({ a: 1, b: 1 })]]);
      const twin = openRawStream(other.ports.streamPort, trust, identity);
      twin.send(subscribe("pod-1"));
      await received(twin, 1);
      expect(twin.messages[0]?.snapshot.version).to.equal(stream.messages[0]?.snapshot.version);
      expect(twin.messages[0]?.leading).to.equal(false);
    });

    it("takes a new authority into use while streams stay open, and trusts the old one still", async () => {
      await start();
      publish({ a: 1 });
      const stream = await subscribed("pod-1");
      const { createCertificateAuthority } =
        await import("@svc-gateway/operator/discovery/certificate-authority.ts");
      const fresh = await createCertificateAuthority("cluster.local", Date.now());
      controller.store.replace({ ...fresh, retiredPem: "" });
      await until(
        () => controller.server.trustBundlePem()?.startsWith(fresh.certificatePem) === true,
        "adopted",
      );
      const signedByNew = await identityOf(sharedToken);
      await acked(stream);
      publish({ a: 2 });
      await received(stream, 2);
      await subscribed("pod-2", identity);
      await subscribed("pod-3", signedByNew);
      expect(stream.status()).to.equal(undefined);
    });
  });
});
