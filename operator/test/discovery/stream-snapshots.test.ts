import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";
import { gatewayScope } from "./support/raw-client.ts";
import { ended, gateway, received, shared, streamBench } from "./support/stream-bench.ts";

describe("Stream: snapshots", () => {
  const bench = streamBench();
  beforeEach(() => bench.start());

  it("a stream gets a full snapshot first, then deltas, each after the one before was acknowledged", async () => {
    bench.publish({ a: 1, b: 1 });
    const stream = await bench.subscribed("pod-1");
    expect(stream.messages[0]?.leading).to.equal(true);
    expect(stream.messages[0]?.snapshot.full).to.equal(true);
    expect(stream.messages[0]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
      "endpoints|default/a/80",
      "endpoints|default/b/80",
    ]);
    await bench.acked(stream);
    bench.publish({ a: 2 });
    await received(stream, 2);
    expect(stream.messages[1]?.snapshot.full).to.equal(false);
    expect(stream.messages[1]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
      "endpoints|default/a/80",
    ]);
    expect(stream.messages[1]?.snapshot.removed).to.deep.equal(["endpoints|default/b/80"]);
    expect(stream.messages[1]?.snapshot.version).to.equal(snapshotOf({ a: 2 }).version);
    expect(bench.controller.metrics.snapshotMessages.with({ kind: "full" }).value).to.equal(1);
    expect(bench.controller.metrics.snapshotMessages.with({ kind: "delta" }).value).to.equal(1);
  });

  it("all updates that a slow proxy has not received yet are merged into one", async () => {
    bench.publish({ a: 1 });
    const stream = await bench.subscribed("pod-1");
    for (let state = 2; state <= 100; state += 1) bench.publish({ a: state });
    await bench.acked(stream);
    await received(stream, 2);
    expect(stream.messages).to.have.length(2);
    expect(stream.messages[1]?.snapshot.version).to.equal(snapshotOf({ a: 100 }).version);
  });

  it("a proxy that rejects an update gets a full one", async () => {
    bench.publish({ a: 1 });
    const stream = await bench.subscribed("pod-1");
    await bench.acked(stream);
    bench.publish({ a: 2 });
    await received(stream, 2);
    stream.nack("no such thing");
    await received(stream, 3);
    expect(stream.messages[2]?.snapshot.full).to.equal(true);
    expect(bench.controller.server.fleet.node("pod-1")?.lastAckedVersion).to.equal(
      snapshotOf({ a: 1 }).version,
    );
    await bench.acked(stream);
    expect(bench.controller.server.fleet.node("pod-1")?.isInSync).to.equal(true);
  });

  it("an empty snapshot is sent, too", async () => {
    bench.publish({});
    const stream = await bench.subscribed("pod-1");
    expect(stream.messages[0]?.snapshot.full).to.equal(true);
    expect(stream.messages[0]?.snapshot.resources).to.deep.equal([]);
  });

  it("a dedicated proxy gets its own scope and nothing else", async () => {
    bench.controller.gateways.push(
      { gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" },
      { gateway: { namespace: "team", name: "b" }, serviceAccount: "b-svc" },
    );
    bench.controller.server.cache.publish([
      [shared, snapshotOf({ secret: 1 })],
      [gateway("a"), snapshotOf({ own: 1 })],
      [gateway("b"), snapshotOf({ foreign: 1 })],
    ]);
    const stream = await bench.subscribed(
      "pod-a",
      await bench.identityOf("token:team:a-svc"),
      gatewayScope("team", "a"),
    );
    expect(stream.messages[0]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
      "endpoints|default/own/80",
    ]);
    await bench.acked(stream);
    bench.controller.server.cache.publish([
      [shared, snapshotOf({ secret: 2 })],
      [gateway("a"), snapshotOf({ own: 2 })],
      [gateway("b"), snapshotOf({ foreign: 2 })],
    ]);
    await received(stream, 2);
    expect(stream.messages[1]?.snapshot.resources.map(({ key }) => key)).to.deep.equal([
      "endpoints|default/own/80",
    ]);
  });

  it("the stream of a proxy whose Gateway was deleted is ended with PERMISSION_DENIED", async () => {
    bench.controller.gateways.push({ gateway: { namespace: "team", name: "a" }, serviceAccount: "a-svc" });
    bench.controller.server.cache.publish([[gateway("a"), snapshotOf({ own: 1 })]]);
    const stream = await bench.subscribed(
      "pod-a",
      await bench.identityOf("token:team:a-svc"),
      gatewayScope("team", "a"),
    );
    bench.controller.gateways.length = 0;
    bench.controller.server.cache.publish([]);
    expect(await ended(stream)).to.equal(status.PERMISSION_DENIED);
  });
});
