import { expect } from "chai";
import { createSnapshotCache } from "@svc-gateway/operator/discovery/snapshot-cache.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";

const shared = { kind: "shared" } as const;
const gateway = (name: string) => ({ kind: "dedicated", gateway: { namespace: "team", name } }) as const;

describe("the snapshot cache", () => {
  it("the cache is listed after the first publication, even of an empty world", () => {
    const cache = createSnapshotCache();
    expect(cache.isListed()).to.equal(false);
    expect(cache.get(shared)).to.equal(undefined);
    cache.publish([[shared, snapshotOf({})]]);
    expect(cache.isListed()).to.equal(true);
    expect(cache.get(shared)?.snapshot.resources.keys).to.deep.equal([]);
  });

  it("scopes are separate, and only subscribers of a changed scope are notified", () => {
    const cache = createSnapshotCache();
    const heard: string[] = [];
    cache.subscribe(shared, () => heard.push("shared"));
    cache.subscribe(gateway("a"), () => heard.push("a"));
    cache.subscribe(gateway("b"), () => heard.push("b"));
    cache.publish([
      [shared, snapshotOf({ x: 1 })],
      [gateway("a"), snapshotOf({ y: 1 })],
      [gateway("b"), snapshotOf({ z: 1 })],
    ]);
    expect(heard).to.deep.equal(["shared", "a", "b"]);
    cache.publish([
      [shared, snapshotOf({ x: 1 })],
      [gateway("a"), snapshotOf({ y: 2 })],
    ]);
    expect(heard).to.deep.equal(["shared", "a", "b", "a", "b"]);
    expect(cache.get(gateway("a"))?.snapshot.version).to.equal(snapshotOf({ y: 2 }).version);
    expect(cache.get(gateway("b"))).to.equal(undefined);
  });

  it("a listener that has unsubscribed is not notified", () => {
    const cache = createSnapshotCache();
    let calls = 0;
    const leave = cache.subscribe(shared, () => (calls += 1));
    leave();
    cache.publish([[shared, snapshotOf({ x: 1 })]]);
    expect(calls).to.equal(0);
  });

  it("an update is encoded once for all proxies with the same base", () => {
    const cache = createSnapshotCache();
    const base = snapshotOf({ x: 1 });
    cache.publish([[shared, snapshotOf({ x: 2 })]]);
    const view = cache.get(shared);
    expect(view?.updateFrom(base)).to.equal(view?.updateFrom(snapshotOf({ x: 1 })));
    expect(view?.updateFrom(undefined)).to.equal(view?.updateFrom(undefined));
    expect(view?.updateFrom(undefined).isFull).to.equal(true);
    expect(view?.updateFrom(base).isFull).to.equal(false);
  });
});
