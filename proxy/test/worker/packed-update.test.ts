import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { packUpdate, unpackUpdate } from "../../src/worker/packed-update.ts";

const resource = (key: string, hash: string, body: string): SnapshotUpdate["resources"][number] => ({
  key: key as ResourceKey,
  hash,
  body,
});

describe("packed updates", () => {
  it("are the same updates after their way between threads", () => {
    const update: SnapshotUpdate = {
      version: "v",
      full: true,
      resources: [
        resource("route|a|80", "1", "same"),
        resource("listener|x", "2", "ü"),
        resource("route|a|443", "1", "same"),
        resource("route|b|80", "2", "ü"),
      ],
      removed: ["route|c" as ResourceKey],
    };
    expect(unpackUpdate(structuredClone(packUpdate(update)))).to.deep.equal(update);
  });

  it("hold each body once", () => {
    const resources = [80, 443, 8443].map((port) => resource(`route|a|${port}`, "1", "same"));
    const packed = packUpdate({ version: "v", full: false, resources, removed: [] });
    expect(packed.bodies).to.deep.equal(["same"]);
    expect(packed.keys).to.have.length(3);
  });

  it("keep bodies apart that claim the same hash", () => {
    const resources = ["one", "other", "one"].map((body, index) => resource(`route|${index}`, "1", body));
    const update: SnapshotUpdate = { version: "v", full: false, resources, removed: [] };
    expect(unpackUpdate(packUpdate(update))).to.deep.equal(update);
  });
});
