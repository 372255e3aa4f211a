import { expect } from "chai";
import { endpointsKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { ok, problem } from "@svc-gateway/common/values/result.ts";
import { createPublisher, type Publisher } from "../../src/standalone/publisher.ts";

const endpoints = (name: string, port: number): Resource =>
  encodeResource(endpointsKey(name), {
    service: name,
    resolve: "static",
    addresses: [{ host: "127.0.0.1", port }],
  });

const summary = ({ full, resources, removed }: SnapshotUpdate): object => ({
  full,
  changed: resources.map(({ key }) => key),
  removed,
});

describe("createPublisher", () => {
  const updates: SnapshotUpdate[] = [];
  let isRefusing = false;
  let publisher: Publisher<undefined>;
  beforeEach(() => {
    updates.length = 0;
    isRefusing = false;
    publisher = createPublisher((update) => {
      updates.push(update);
      return isRefusing ? problem("refused") : ok(undefined);
    });
  });

  it("the first update is full, later ones are deltas", async () => {
    await publisher.publish([endpoints("a", 1), endpoints("b", 1)]);
    await publisher.publish([endpoints("a", 2), endpoints("c", 1)]);
    expect(updates.map(summary)).to.deep.equal([
      { full: true, changed: ["endpoints|a", "endpoints|b"], removed: [] },
      { full: false, changed: ["endpoints|a", "endpoints|c"], removed: ["endpoints|b"] },
    ]);
  });

  it("no update is sent when nothing changed", async () => {
    await publisher.publish([endpoints("a", 1)]);
    expect(await publisher.publish([endpoints("a", 1)])).to.equal(undefined);
    expect(updates).to.have.length(1);
  });

  it("an update after a rejected one is the difference from the last applied snapshot", async () => {
    await publisher.publish([endpoints("a", 1)]);
    isRefusing = true;
    expect(await publisher.publish([endpoints("a", 1), endpoints("bad", 1)])).to.have.property("ok", false);
    isRefusing = false;
    await publisher.publish([endpoints("a", 1), endpoints("b", 1)]);
    expect(updates.map(summary).at(-1)).to.deep.equal({ full: false, changed: ["endpoints|b"], removed: [] });
  });

  it("the update is full until one was applied", async () => {
    isRefusing = true;
    await publisher.publish([endpoints("a", 1)]);
    await publisher.publish([endpoints("b", 1)]);
    expect(updates.map(({ full }) => full)).to.deep.equal([true, true]);
  });
});
