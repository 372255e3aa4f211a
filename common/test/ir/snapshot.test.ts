import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot, diffSnapshots } from "@svc-gateway/common/ir/snapshot.ts";
import { changeEntries, findEntry } from "@svc-gateway/common/ir/sorted-entries.ts";
import { expect } from "chai";
import fc from "fast-check";

const resources = ["a", "b", "c", "d", "e"].flatMap((key) =>
  ["1", "2"].map((hash): Resource => ({ key: key as ResourceKey, hash, body: "" })),
);
const snapshot = fc
  .uniqueArray(fc.constantFrom(...resources), { selector: ({ key }) => key })
  .map((list) => createSnapshot(list));

describe("diffSnapshots", () => {
  it("diffSnapshots gives what differs between two snapshots and nothing else", () => {
    fc.assert(
      fc.property(snapshot, snapshot, (previous, next) => {
        const { version, full, resources: changed, removed } = diffSnapshots(previous, next);
        expect({ version, full }).to.deep.equal({ version: next.version, full: false });
        const changes = new Map<ResourceKey, Resource | undefined>(removed.map((key) => [key, undefined]));
        for (const resource of changed) changes.set(resource.key, resource);
        expect(changeEntries(previous.resources, changes)).to.deep.equal(next.resources);
        for (const key of removed) expect(findEntry(previous.resources, key)).not.to.equal(undefined);
        for (const { key, hash } of changed) {
          expect(findEntry(previous.resources, key)?.hash).not.to.equal(hash);
        }
      }),
    );
  });
});
