import { expect } from "chai";
import type { Snapshot } from "@svc-gateway/common/ir/snapshot.ts";
import {
  createDelivery,
  type Delivery,
  type OutgoingUpdate,
} from "@svc-gateway/operator/discovery/delivery.ts";
import { createSnapshotCache, type SnapshotCache } from "@svc-gateway/operator/discovery/snapshot-cache.ts";
import { Snapshot as SnapshotMessage } from "@svc-gateway/proto/generated/discovery.js";
import { createManualClock, type ManualClock } from "../../../common/test/time/manual-clock.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";

const shared = { kind: "shared" } as const;

describe("the delivery of snapshots", () => {
  let cache: SnapshotCache;
  let clock: ManualClock;
  let sent: OutgoingUpdate[];
  let delivery: Delivery;

  beforeEach(() => {
    cache = createSnapshotCache();
    clock = createManualClock();
    sent = [];
    delivery = createDelivery({
      current: () => cache.get(shared),
      send: (update) => sent.push(update),
      clock,
    });
  });

  const publish = (snapshot: Snapshot): void => {
    cache.publish([[shared, snapshot]]);
    delivery.advance();
  };
  const last = (): { readonly nonce: Uint8Array; readonly message: SnapshotMessage } => {
    const outgoing = sent.at(-1);
    if (outgoing === undefined) throw new Error("nothing was sent");
    return { nonce: outgoing.nonce, message: SnapshotMessage.deserialize(outgoing.update.whole().body) };
  };
  const acknowledge = (): void => {
    expect(delivery.acknowledge(last().nonce)).to.equal(true);
    delivery.advance();
  };
  const refuse = (): void => {
    expect(delivery.refuse(last().nonce)).to.equal(true);
    delivery.advance();
  };

  it("no update is sent before there is a snapshot", () => {
    delivery.advance();
    expect(sent).to.have.length(0);
  });

  it("the first update is full, and later ones are deltas from what was acknowledged", () => {
    publish(snapshotOf({ a: 1, b: 1 }));
    expect(last().message.full).to.equal(true);
    expect(last().message.resources).to.have.length(2);
    acknowledge();
    publish(snapshotOf({ a: 2, c: 1 }));
    expect(last().message.full).to.equal(false);
    expect(last().message.resources.map(({ key }) => key)).to.deep.equal([
      "endpoints|default/a/80",
      "endpoints|default/c/80",
    ]);
    expect(last().message.removed).to.deep.equal(["endpoints|default/b/80"]);
    expect(last().message.version).to.equal(snapshotOf({ a: 2, c: 1 }).version);
  });

  it("one update is in flight at a time, and changes meanwhile become one update", () => {
    publish(snapshotOf({ a: 1 }));
    for (let state = 2; state < 50; state += 1) publish(snapshotOf({ a: state, [`b${state}`]: 1 }));
    expect(sent).to.have.length(1);
    acknowledge();
    expect(sent).to.have.length(2);
    expect(last().message.full).to.equal(false);
    expect(last().message.version).to.equal(snapshotOf({ a: 49, b49: 1 }).version);
    acknowledge();
    expect(sent).to.have.length(2);
  });

  it("a change that was reverted while an update was in flight is not sent", () => {
    publish(snapshotOf({ a: 1 }));
    publish(snapshotOf({ a: 2 }));
    publish(snapshotOf({ a: 1 }));
    acknowledge();
    expect(sent).to.have.length(1);
  });

  it("an answer with a nonce that is not in flight is ignored", () => {
    publish(snapshotOf({ a: 1 }));
    expect(delivery.acknowledge(Uint8Array.of(1, 2, 3))).to.equal(false);
    expect(delivery.refuse(new Uint8Array(0))).to.equal(false);
    const { nonce } = last();
    acknowledge();
    expect(delivery.acknowledge(nonce)).to.equal(false);
    expect(delivery.refuse(nonce)).to.equal(false);
    expect(delivery.acknowledged()?.version).to.equal(snapshotOf({ a: 1 }).version);
  });

  it("a rejected update is followed by a full update of the current snapshot, and what was acknowledged stays", () => {
    publish(snapshotOf({ a: 1 }));
    acknowledge();
    publish(snapshotOf({ a: 2 }));
    publish(snapshotOf({ a: 3 }));
    refuse();
    expect(last().message.full).to.equal(true);
    expect(last().message.version).to.equal(snapshotOf({ a: 3 }).version);
    expect(delivery.acknowledged()?.version).to.equal(snapshotOf({ a: 1 }).version);
    acknowledge();
    publish(snapshotOf({ a: 4 }));
    expect(last().message.full).to.equal(false);
  });

  it("a full update is sent at most every 30 seconds after three rejections in a row", async () => {
    publish(snapshotOf({ a: 1 }));
    refuse();
    refuse();
    expect(sent).to.have.length(3);
    refuse();
    expect(sent).to.have.length(3);
    publish(snapshotOf({ a: 2 }));
    await clock.advance(29_999);
    expect(sent).to.have.length(3);
    await clock.advance(1);
    expect(sent).to.have.length(4);
    expect(last().message.version).to.equal(snapshotOf({ a: 2 }).version);
    refuse();
    await clock.advance(29_999);
    expect(sent).to.have.length(4);
    await clock.advance(1);
    acknowledge();
    publish(snapshotOf({ a: 3 }));
    expect(sent).to.have.length(6);
  });

  it("no update is sent after close, and no timer is left", async () => {
    publish(snapshotOf({ a: 1 }));
    refuse();
    refuse();
    refuse();
    delivery.close();
    await clock.advance(60_000);
    publish(snapshotOf({ a: 2 }));
    expect(sent).to.have.length(3);
    expect(clock.pending()).to.equal(0);
  });
});
