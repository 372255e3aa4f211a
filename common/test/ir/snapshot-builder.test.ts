import { createSnapshotBuilder } from "@svc-gateway/common/ir/snapshot-builder.ts";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { expect } from "chai";
import fc from "fast-check";

/** Resources, each a single object, since the translation returns the same object while nothing changes. */
const resources = ["a", "b", "c", "d", "e"].flatMap((key) =>
  ["1", "2"].map((hash): Resource => ({ key: key as ResourceKey, hash, body: "" })),
);
const state = fc.uniqueArray(fc.constantFrom(...resources), { selector: ({ key }) => key });

describe("createSnapshotBuilder", () => {
  it("a built snapshot is that of its resources, after any sequence of builds", () => {
    fc.assert(
      fc.property(fc.array(state, { maxLength: 8 }), (states) => {
        const build = createSnapshotBuilder();
        for (const list of states) expect(build(list)).to.deep.equal(createSnapshot(list));
      }),
    );
  });

  it("equal resources give the same snapshot object", () => {
    const build = createSnapshotBuilder();
    const one = (hash: string): Resource => ({ key: "a" as ResourceKey, hash, body: "" });
    const first = build([one("1")]);
    expect(build([one("1")])).to.equal(first);
    expect(build([one("2")])).not.to.equal(first);
  });
});
