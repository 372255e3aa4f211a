import { expect } from "chai";
import { createFleet, type FleetRegistry, type Membership } from "@svc-gateway/operator/discovery/fleet.ts";
import { createSnapshotCache, type SnapshotCache } from "@svc-gateway/operator/discovery/snapshot-cache.ts";
import { snapshotOf } from "../../../common/test/ir/snapshots.ts";

const shared = { kind: "shared" } as const;
const sharedIdentity = { namespace: "svc-system", serviceAccount: "svc-shared-proxy" };

describe("the fleet", () => {
  let cache: SnapshotCache;
  let fleet: FleetRegistry;
  let nowMs = 0;
  beforeEach(() => {
    cache = createSnapshotCache();
    nowMs = 0;
    fleet = createFleet(cache, { nowMs: () => nowMs });
  });
  const join = (nodeId: string, onReplaced = (): void => {}): Membership => {
    const membership = fleet.join({
      nodeId,
      identity: sharedIdentity,
      scope: shared,
      unknownFields: [],
      onReplaced,
    });
    return membership;
  };

  it("a node shows what its proxy has reported, and whether it is in sync", () => {
    const membership = join("pod-1");
    expect(fleet.node("pod-1")).to.deep.equal({
      nodeId: "pod-1",
      identity: sharedIdentity,
      scope: shared,
      unknownFields: [],
      release: undefined,
      health: undefined,
      degradedChecks: [],
      boundPorts: [],
      lastAckedVersion: undefined,
      isInSync: false,
      behindMs: 0,
    });
    const snapshot = snapshotOf({ a: 1 });
    cache.publish([[shared, snapshot]]);
    membership.setAcknowledged(snapshot);
    membership.setBoundPorts([80, 443]);
    membership.setHealth("1.2.3", [
      { subsystem: "proxy", name: "routing_table_loaded", state: "Degraded", reason: "stream lost" },
    ]);
    expect(fleet.nodes()).to.deep.equal([
      {
        nodeId: "pod-1",
        identity: sharedIdentity,
        scope: shared,
        unknownFields: [],
        release: "1.2.3",
        health: "degraded",
        degradedChecks: ["routing_table_loaded"],
        boundPorts: [80, 443],
        lastAckedVersion: snapshot.version,
        isInSync: true,
        behindMs: 0,
      },
    ]);
    cache.publish([[shared, snapshotOf({ a: 2 })]]);
    expect(fleet.node("pod-1")?.isInSync).to.equal(false);
    membership.leave();
    expect(fleet.node("pod-1")).to.equal(undefined);
  });

  it("a node is behind from the first snapshot that it has not acknowledged until it acknowledges the latest", () => {
    const behindMs = (): number | undefined => fleet.node("pod-1")?.behindMs;
    const [first, second, third] = [1, 2, 3].map((a) => snapshotOf({ a }));
    if (first === undefined || second === undefined || third === undefined)
      throw new Error("three snapshots");
    cache.publish([[shared, first]]);
    const membership = join("pod-1");
    nowMs = 3_000;
    expect(behindMs()).to.equal(3_000);
    membership.setAcknowledged(first);
    nowMs = 10_000;
    expect(behindMs()).to.equal(0);
    cache.publish([[shared, second]]);
    nowMs = 12_000;
    cache.publish([[shared, third]]);
    nowMs = 15_000;
    expect(behindMs()).to.equal(5_000);
    membership.setAcknowledged(second);
    expect(behindMs()).to.equal(5_000);
    membership.setAcknowledged(third);
    expect(behindMs()).to.equal(0);
  });

  it("the health of a node is undefined while a check is pending", () => {
    const membership = join("pod-1");
    const check = (state: string) => ({ subsystem: "proxy", name: state, state, reason: "" });
    membership.setHealth("1", [check("Ready"), check("Pending")]);
    expect(fleet.node("pod-1")?.health).to.equal(undefined);
    membership.setHealth("1", [check("Ready")]);
    expect(fleet.node("pod-1")?.health).to.equal("ready");
  });

  it("a newer stream of a proxy replaces the older one, whose reports are dropped", () => {
    let replaced = 0;
    const old = join("pod-1", () => (replaced += 1));
    old.setBoundPorts([80]);
    const fresh = join("pod-1");
    expect(replaced).to.equal(1);
    expect(fleet.node("pod-1")?.boundPorts).to.deep.equal([]);
    old.setBoundPorts([81]);
    old.leave();
    expect(fleet.node("pod-1")?.boundPorts).to.deep.equal([]);
    fresh.leave();
    expect(fleet.nodes()).to.deep.equal([]);
  });

  it("proxies of different identities with the same name are different nodes", () => {
    const own = join("pod-1");
    const other = fleet.join({
      nodeId: "pod-1",
      identity: { namespace: "team", serviceAccount: "gw-svc" },
      scope: { kind: "dedicated", gateway: { namespace: "team", name: "gw" } },
      unknownFields: [],
      onReplaced: () => {},
    });
    expect(fleet.nodes()).to.have.length(2);
    expect(fleet.node("pod-1", "team")?.identity.serviceAccount).to.equal("gw-svc");
    expect(fleet.node("pod-1", sharedIdentity.namespace)?.identity).to.deep.equal(sharedIdentity);
    other.leave();
    expect(fleet.nodes().map(({ identity }) => identity)).to.deep.equal([sharedIdentity]);
    own.leave();
    expect(fleet.nodes()).to.deep.equal([]);
  });

  it("a resource is programmed when every proxy of the scope has acknowledged it and bound its ports", () => {
    const snapshot = snapshotOf({ a: 1, b: 1 });
    const [resource] = snapshot.resources.values;
    if (resource === undefined) throw new Error("no resource");
    const ask = (hash = resource.hash, ports = [8443]) =>
      fleet.isProgrammed({ scope: shared, resources: [[resource.key, hash]], ports });
    expect(ask()).to.equal(false);
    const [first, second] = [join("pod-1"), join("pod-2")];
    for (const one of [first, second]) {
      expect(ask()).to.equal(false);
      one.setAcknowledged(snapshot);
      expect(ask()).to.equal(false);
      one.setBoundPorts([80, 8443]);
    }
    expect(ask()).to.equal(true);
    expect(ask("another hash")).to.equal(false);
    expect(ask(resource.hash, [8443, 9000])).to.equal(false);
    const newcomer = join("pod-3");
    expect(ask()).to.equal(false);
    newcomer.leave();
    expect(ask()).to.equal(true);
  });

  it("one scope is programmed regardless of another", () => {
    const snapshot = snapshotOf({ a: 1 });
    join("pod-1").setAcknowledged(snapshot);
    const scope = { kind: "dedicated", gateway: { namespace: "team", name: "gw" } } as const;
    expect(fleet.isProgrammed({ scope, resources: [], ports: [] })).to.equal(false);
    expect(fleet.isProgrammed({ scope: shared, resources: [], ports: [] })).to.equal(true);
  });

  it("subscribers are notified when a proxy joins, leaves or reports", () => {
    let calls = 0;
    const unsubscribe = fleet.subscribe((scope) => {
      expect(scope).to.deep.equal(shared);
      calls += 1;
    });
    const membership = join("pod-1");
    membership.setBoundPorts([80]);
    membership.leave();
    expect(calls).to.equal(3);
    unsubscribe();
    join("pod-1");
    expect(calls).to.equal(3);
  });
});
