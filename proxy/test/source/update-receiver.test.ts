import { expect } from "chai";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import { discoveryClientMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { Resource, Snapshot, type ClientMessage } from "@svc-gateway/proto/generated/discovery.js";
import type { IncomingUpdate } from "@svc-gateway/proxy/state/incoming-update.ts";
import { createUpdateReceiver } from "@svc-gateway/proxy/source/update-receiver.ts";

describe("the receiver of updates", () => {
  const setUp = (
    apply: (update: SnapshotUpdate) => Result<unknown>,
    onBegin: (update: IncomingUpdate) => void = () => {},
  ) => {
    const sent: ClientMessage[] = [];
    const applied: string[] = [];
    const metrics = createMetricSet(discoveryClientMetrics);
    const { receive, end } = createUpdateReceiver({
      async apply(incoming) {
        onBegin(incoming);
        const update = await incoming.whole;
        return update === undefined ? problem("abandoned") : apply(update);
      },
      send: (message) => sent.push(message),
      onApplied: (version) => applied.push(version),
      metrics,
      log: silentLogger,
    });
    const receiveSnapshot = (data: ConstructorParameters<typeof Snapshot>[0]): Promise<void> =>
      receive({ leading: true, answersPings: true, snapshot: new Snapshot(data).serialize() });
    return { sent, applied, metrics, receive, end, receiveSnapshot };
  };
  const nonce = Uint8Array.of(1, 2, 3);

  it("an applied update is acknowledged under its nonce", async () => {
    const updates: SnapshotUpdate[] = [];
    const { sent, applied, metrics, receiveSnapshot } = setUp((update) => ok(updates.push(update)));
    const startedAtMs = Date.now();
    const resource = new Resource({ key: "endpoints|a", hash: "h", body: Buffer.from('{"ü":1}') });
    await receiveSnapshot({ version: "v1", nonce, full: true, resources: [resource], removed: [] });
    expect(updates).to.deep.equal([
      {
        version: "v1",
        full: true,
        resources: [{ key: "endpoints|a", hash: "h", body: '{"ü":1}' }],
        removed: [],
      },
    ]);
    expect(sent.map(({ message }) => message)).to.deep.equal(["ack"]);
    expect(sent[0]?.ack.version).to.equal("v1");
    expect(Buffer.from(sent[0]?.ack.nonce ?? []).equals(nonce)).to.equal(true);
    expect(applied).to.deep.equal(["v1"]);
    expect(metrics.snapshotTime.with({}).value).to.be.within(startedAtMs / 1000, Date.now() / 1000);
  });

  it("an update is handed on with its first part, and acknowledged once, after its last", async () => {
    const begun: IncomingUpdate[] = [];
    const { sent, receiveSnapshot } = setUp(
      () => ok(undefined),
      (update) => begun.push(update),
    );
    await receiveSnapshot({ version: "v1", nonce, full: true, more: true });
    expect(begun.map(({ version, full }) => [version, full])).to.deep.equal([["v1", true]]);
    await receiveSnapshot({ version: "v1", nonce, full: true, more: true });
    expect(sent).to.deep.equal([]);
    await receiveSnapshot({ version: "v1", nonce, full: true });
    expect(begun).to.have.length(1);
    expect(sent.map(({ message }) => message)).to.deep.equal(["ack"]);
    await receiveSnapshot({ version: "v2", nonce, full: false });
    expect(begun).to.have.length(2);
  });

  it("an update whose stream ends before its last part is abandoned and not answered", async () => {
    const begun: IncomingUpdate[] = [];
    const { sent, applied, end, receiveSnapshot } = setUp(
      () => ok(undefined),
      (update) => begun.push(update),
    );
    await receiveSnapshot({ version: "v1", nonce, full: true, more: true });
    end();
    expect(await begun[0]?.whole).to.equal(undefined);
    expect([sent, applied]).to.deep.equal([[], []]);
  });

  it("a rejected update is answered with a NACK whose reason is cut at 1000 characters", async () => {
    const { sent, applied, metrics, receiveSnapshot } = setUp(() => problem("x".repeat(5000)));
    await receiveSnapshot({ version: "v1", nonce, full: true });
    expect(sent.map(({ message }) => message)).to.deep.equal(["nack"]);
    expect(sent[0]?.nack.detail).to.equal("x".repeat(1000));
    expect(applied).to.deep.equal([]);
    expect(metrics.snapshots.with({ kind: "full", result: "nack" }).value).to.equal(1);
    expect(metrics.snapshotTime.with({}).value).to.equal(0);
  });

  it("a delta before the first full update of the stream is rejected", async () => {
    const { sent, receiveSnapshot } = setUp(() => ok(undefined));
    await receiveSnapshot({ version: "v1", nonce, full: false });
    expect(sent[0]?.nack.detail).to.equal("a delta came before the first full snapshot");
    await receiveSnapshot({ version: "v1", nonce, full: true });
    await receiveSnapshot({ version: "v2", nonce, full: false });
    expect(sent.map(({ message }) => message)).to.deep.equal(["nack", "ack", "ack"]);
  });

  it("a message without a snapshot is ignored, and an unreadable snapshot ends the stream", async () => {
    const { sent, receive } = setUp(() => ok(undefined));
    await receive({ leading: true, answersPings: true, snapshot: undefined });
    expect(sent).to.deep.equal([]);
    const failure = await receive({ leading: true, answersPings: true, snapshot: Uint8Array.of(0xff) }).catch(
      String,
    );
    expect(failure).to.equal("Error: the snapshot message cannot be decoded");
  });
});
