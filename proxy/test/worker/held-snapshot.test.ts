import { expect } from "chai";
import fc from "fast-check";
import { endpointsKey, type ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource, type Resource } from "@svc-gateway/common/ir/resource.ts";
import {
  createSnapshot,
  diffSnapshots,
  fullUpdate,
  type SnapshotUpdate,
} from "@svc-gateway/common/ir/snapshot.ts";
import { HeldSnapshot } from "../../src/worker/held-snapshot.ts";

const endpoints = (name: string, port: number): Resource =>
  encodeResource(endpointsKey(`ns/${name}/80`), {
    service: `ns/${name}`,
    resolve: "static",
    addresses: [{ host: "10.0.0.1", port }],
  });

/** A resource of a kind that this release does not know. */
const unknown: Resource = { ...endpoints("a", 1), key: "quic|9000" as ResourceKey };

const snapshot = fc
  .uniqueArray(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.integer({ min: 1, max: 3 })), {
    selector: ([name]) => name,
  })
  .map((sets) => createSnapshot(sets.map(([name, port]) => endpoints(name, port))));

function take(held: HeldSnapshot, update: SnapshotUpdate): void {
  const checked = held.check(update);
  if (!checked.ok) expect.fail(checked.error.message);
  held.apply(checked.value);
}

const refusalOf = (held: HeldSnapshot, update: SnapshotUpdate): string | undefined => {
  const checked = held.check(update);
  return checked.ok ? undefined : checked.error.message;
};

describe("HeldSnapshot", () => {
  it("HeldSnapshot follows full updates and deltas to the versions that they announce", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(snapshot, fc.boolean()), { minLength: 1, maxLength: 6 }), (steps) => {
        const held = new HeldSnapshot();
        let present = createSnapshot([]);
        for (const [next, full] of steps) {
          take(held, full ? fullUpdate(next) : diffSnapshots(present, next));
          const { resources, ...rest } = fullUpdate(next);
          expect(held.asUpdate()).to.deep.include(rest);
          expect(held.asUpdate()?.resources).to.have.deep.members(resources);
          present = next;
        }
      }),
    );
  });

  it("HeldSnapshot rejects an update that leads to another version, and keeps its state", () => {
    fc.assert(
      fc.property(snapshot, snapshot, snapshot, (first, base, next) => {
        fc.pre(first.version !== base.version && base.version !== next.version);
        const held = new HeldSnapshot();
        take(held, fullUpdate(first));
        const before = held.asUpdate();
        expect(refusalOf(held, { ...fullUpdate(next), version: "0".repeat(64) })).to.include(
          `snapshot ${"0".repeat(64)}: its content has version ${next.version}`,
        );
        expect(held.asUpdate()).to.deep.equal(before);
        take(held, diffSnapshots(first, next));
      }),
    );
  });

  it("HeldSnapshot rejects a delta for another snapshot", () => {
    const held = new HeldSnapshot();
    take(held, fullUpdate(createSnapshot([endpoints("a", 1)])));
    const both = createSnapshot([endpoints("b", 1), endpoints("c", 1)]);
    expect(refusalOf(held, diffSnapshots(createSnapshot([endpoints("b", 1)]), both))).to.include("version");
  });

  it("HeldSnapshot keeps resources of unknown kinds", () => {
    const held = new HeldSnapshot();
    take(held, fullUpdate(createSnapshot([unknown])));
    expect(held.asUpdate()?.resources).to.deep.equal([unknown]);
  });
});
