import { createHash } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import { createSnapshot } from "@svc-gateway/common/ir/snapshot.ts";
import { changeVersionLines, noVersionLines, versionOf } from "@svc-gateway/common/ir/version-lines.ts";

const key = fc.string({ unit: "binary", maxLength: 3 }).map((text) => text as ResourceKey);
const hash = fc.constantFrom("a", "b", undefined);

describe("version lines", () => {
  it("the version lines give the version of the snapshot after any sequence of changes", () => {
    const changes = fc.array(fc.array(fc.tuple(key, hash), { maxLength: 6 }), { maxLength: 6 });
    fc.assert(
      fc.property(changes, (steps) => {
        const resources = new Map<ResourceKey, Resource>();
        let lines = noVersionLines;
        for (const step of steps) {
          const change = new Map(step);
          for (const [name, value] of change) {
            if (value === undefined) resources.delete(name);
            else resources.set(name, { key: name, hash: value, body: "" });
          }
          lines = changeVersionLines(lines, change);
          const text = [...resources.keys()].sort().map((name) => `${name}\n${resources.get(name)?.hash}\n`);
          const version = createHash("sha256").update(text.join("")).digest("hex");
          expect(versionOf(lines)).to.equal(version);
          expect(createSnapshot(resources.values()).version).to.equal(version);
        }
      }),
    );
  });
});
