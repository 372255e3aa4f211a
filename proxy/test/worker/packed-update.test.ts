import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { packUpdate, unpackResources, unpackUpdate } from "../../src/worker/packed-update.ts";

const resource = (key: string, hash: string, body: string): SnapshotUpdate["resources"][number] => ({
  key: key as ResourceKey,
  hash,
  body,
});

describe("packed updates", () => {
  it("a packed update unpacks to the same update after structured cloning", () => {
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
    const { parts, end } = structuredClone(packUpdate(update));
    expect(parts).to.deep.equal([]);
    expect(unpackUpdate(end)).to.deep.equal(update);
  });

  it("a packed update contains each body once", () => {
    const resources = [80, 443, 8443].map((port) => resource(`route|a|${port}`, "1", "same"));
    const { end } = packUpdate({ version: "v", full: false, resources, removed: [] });
    expect(end.bodies).to.deep.equal(["same"]);
    expect(end.keys).to.have.length(3);
  });

  it("a packed update separates bodies that claim the same hash", () => {
    const resources = ["one", "other", "one"].map((body, index) => resource(`route|${index}`, "1", body));
    const update: SnapshotUpdate = { version: "v", full: false, resources, removed: [] };
    expect(unpackUpdate(packUpdate(update).end)).to.deep.equal(update);
  });

  it("each message of a packed update is limited in text, and has all keys of its bodies", () => {
    const resources = ["a", "b", "c", "d"].flatMap((name) =>
      [80, 443].map((port) => resource(`route|${port}|${name}`, name, name.repeat(name === "c" ? 25 : 6))),
    );
    const { parts, end } = packUpdate(
      { version: "v", full: true, resources, removed: ["x" as ResourceKey] },
      10,
    );
    const messages = [...parts, end].map((part) => part.bodies.map(({ length }) => length));
    expect(messages).to.deep.equal([[6], [6], [25], [6]]);
    expect([...parts, end].flatMap(unpackResources)).to.have.deep.members(resources);
    expect([end.version, end.full, end.removed]).to.deep.equal(["v", true, ["x"]]);
  });

  it("a packed update contains the later of two resources with one key", () => {
    const resources = [resource("route|a", "1", "first"), resource("route|a", "2", "second")];
    const { parts, end } = packUpdate({ version: "v", full: true, resources, removed: [] }, 1);
    expect([...parts, end].flatMap(unpackResources)).to.deep.equal([resources[1]]);
  });
});
