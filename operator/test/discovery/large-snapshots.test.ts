import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { sha256Hex, type Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, type Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { discoveryServerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { createFleet } from "@svc-gateway/operator/discovery/fleet.ts";
import { createExpectedPrincipals } from "@svc-gateway/operator/discovery/principals.ts";
import { createSnapshotCache } from "@svc-gateway/operator/discovery/snapshot-cache.ts";
import { openSession } from "@svc-gateway/operator/discovery/stream-session.ts";
import { ServerMessage } from "@svc-gateway/proto/generated/discovery.js";
import { maxPartBytes } from "@svc-gateway/proto/wire.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";
import { until } from "../../../common/test/until.ts";
import { createTestLeadership } from "./support/controller.ts";
import { sharedScope, subscribe } from "./support/raw-client.ts";
import { ended, shared, streamBench } from "./support/stream-bench.ts";

const mebibyte = 1024 * 1024;

/** A snapshot of so many MiB in resources of one MiB, or in one. */
function snapshotOfMebibytes(count: number, isOne = false): Snapshot {
  const resourceOf = (name: string, body: string): Resource => ({
    key: `other|${name}` as ResourceKey,
    hash: sha256Hex(body),
    body,
  });
  return createSnapshot(
    isOne
      ? [resourceOf("one", "x".repeat(count * mebibyte))]
      : Array.from({ length: count }, (_, index) =>
          resourceOf(String(index), `${index}${"x".repeat(mebibyte)}`),
        ),
  );
}

describe("Stream: large snapshots", () => {
  const bench = streamBench();
  beforeEach(() => bench.start());

  it("a proxy that supports parts gets a snapshot of more than 64 MiB", async () => {
    const snapshot = snapshotOfMebibytes(70);
    bench.controller.server.cache.publish([[shared, snapshot]]);
    const stream = bench.open();
    stream.send(subscribe("pod-1", sharedScope(), 2, true));
    const last = (): ServerMessage | undefined => stream.messages.at(-1);
    await until(() => last() !== undefined && last()?.snapshot.more === false, "the last part");
    expect(stream.messages.length).to.be.greaterThan(69);
    const keys = stream.messages.flatMap(({ snapshot: { resources } }) => resources.map(({ key }) => key));
    expect([...new Set(keys)]).to.deep.equal(snapshot.resources.keys);
    await bench.acked(stream);
    expect(bench.controller.server.fleet.node("pod-1")?.isInSync).to.equal(true);
    expect(bench.controller.metrics.snapshotMessages.with({ kind: "full" }).value).to.equal(1);
  });

  it("a proxy of an older release gets its snapshot in one message", async () => {
    bench.controller.server.cache.publish([[shared, snapshotOfMebibytes(10, true)]]);
    const stream = await bench.subscribed("pod-1");
    expect(stream.messages).to.have.length(1);
    expect(stream.messages[0]?.snapshot.more).to.equal(false);
    expect(stream.messages[0]?.snapshot.resources[0]?.body.length).to.equal(10 * mebibyte);
  });

  it("the stream of a proxy of an older release is ended when its snapshot does not fit into one message", async () => {
    bench.controller.server.cache.publish([[shared, snapshotOfMebibytes(64)]]);
    const stream = bench.open();
    stream.send(subscribe("pod-1"));
    expect(await ended(stream)).to.equal(status.INTERNAL);
    expect(stream.messages).to.have.length(0);
  });
});

describe("the session of a proxy that takes parts", () => {
  it("a part is encoded only after the transport took the one before, and each says whether the replica leads", () => {
    const cache = createSnapshotCache();
    cache.publish([[shared, snapshotOfMebibytes(2)]]);
    const leadership = createTestLeadership(true);
    const identity = { namespace: "svc-system", serviceAccount: "svc-shared-proxy" };
    const sent: Buffer[] = [];
    let onFlushed = (): void => {};
    const session = openSession({
      proxy: {
        nodeId: "a",
        scope: shared,
        identity,
        pod: undefined,
        certificateEndsMs: 1e12,
        takesParts: true,
        unknownFields: [],
      },
      cache,
      fleet: createFleet(cache),
      leadership,
      principals: createExpectedPrincipals({ shared: identity, dedicated: () => [] }),
      metrics: createMetricSet(discoveryServerMetrics),
      log: silentLogger,
      clock: createManualClock(),
      write(message, flushed) {
        sent.push(message);
        onFlushed = flushed;
      },
      end: () => {},
    });
    expect(sent).to.have.length(1);
    expect(sent[0]?.length).to.be.at.most(maxPartBytes);
    onFlushed();
    expect(sent).to.have.length(2);
    leadership.set(false);
    expect(sent, "no message of its own between parts").to.have.length(2);
    onFlushed();
    expect(sent).to.have.length(3);
    expect(ServerMessage.deserialize(sent[1] ?? Buffer.of()).leading).to.equal(true);
    expect(ServerMessage.deserialize(sent[2] ?? Buffer.of()).leading).to.equal(false);
    expect(ServerMessage.deserialize(sent[2] ?? Buffer.of()).snapshot.more).to.equal(false);
    onFlushed();
    expect(sent, "nothing after the last part").to.have.length(3);
    session.close();
  });

  it("a ping is answered with whether the replica leads, unless a message is in flight", () => {
    const cache = createSnapshotCache();
    cache.publish([[shared, createSnapshot([])]]);
    const identity = { namespace: "svc-system", serviceAccount: "svc-shared-proxy" };
    const sent: Buffer[] = [];
    let onFlushed = (): void => {};
    const session = openSession({
      proxy: {
        nodeId: "a",
        scope: shared,
        identity,
        pod: undefined,
        certificateEndsMs: 1e12,
        takesParts: true,
        unknownFields: [],
      },
      cache,
      fleet: createFleet(cache),
      leadership: createTestLeadership(true),
      principals: createExpectedPrincipals({ shared: identity, dedicated: () => [] }),
      metrics: createMetricSet(discoveryServerMetrics),
      log: silentLogger,
      clock: createManualClock(),
      write(message, flushed) {
        sent.push(message);
        onFlushed = flushed;
      },
      end: () => {},
    });
    session.receive({ kind: "ping" });
    expect(sent).to.have.length(1);
    onFlushed();
    session.receive({ kind: "ping" });
    expect(sent).to.have.length(2);
    const answer = ServerMessage.deserialize(sent[1] ?? Buffer.of());
    expect([answer.leading, answer.answers_pings, answer.has_snapshot]).to.deep.equal([true, true, false]);
    session.close();
  });
});
