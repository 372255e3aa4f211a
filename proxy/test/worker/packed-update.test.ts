import { expect } from "chai";
import type { ResourceKey } from "@svc-gateway/common/ir/keys.ts";
import type { SnapshotUpdate } from "@svc-gateway/common/ir/snapshot.ts";
import { IncomingUpdate } from "../../src/state/incoming-update.ts";
import type { UpdatePart } from "../../src/state/update-part.ts";
import { packIncoming, packUpdate, type PackedMessages } from "../../src/worker/packed-update.ts";

type Resource = SnapshotUpdate["resources"][number];

const resource = (key: string, hash: string, body: string): Resource => ({
  key: key as ResourceKey,
  hash,
  body,
});

const updateOf = (resources: readonly Resource[]): SnapshotUpdate => ({
  version: "v",
  full: true,
  resources,
  removed: ["x" as ResourceKey],
});

/** The messages that a worker receives. */
async function messagesOf(packed: PackedMessages): Promise<readonly UpdatePart[]> {
  const parts: UpdatePart[] = [];
  for (let index = 0; ; index++) {
    const part = await packed.part(index);
    if (part === undefined) break;
    parts.push(part);
  }
  return structuredClone(packed.end === undefined ? parts : [...parts, packed.end]);
}

/** The resources of messages, read in their order. */
function unpack(messages: readonly UpdatePart[]): readonly Resource[] {
  const bodies: { readonly hash: string; readonly body: string }[] = [];
  return messages.flatMap((part) => {
    expect(part.first).to.equal(bodies.length);
    for (const [index, body] of part.bodies.entries()) bodies.push({ hash: part.hashes[index] ?? "", body });
    return part.keys.map((key, index) => ({
      key,
      ...(bodies[part.places[index] ?? -1] ?? { hash: "", body: "" }),
    }));
  });
}

describe("packed updates", () => {
  it("a packed update unpacks to the same update", async () => {
    const update = updateOf([
      resource("route|a|80", "1", "same"),
      resource("listener|x", "2", "ü"),
      resource("route|a|443", "1", "same"),
      resource("route|b|80", "2", "ü"),
    ]);
    const packed = packUpdate(update);
    const messages = await messagesOf(packed);
    expect(messages).to.have.length(1);
    expect(unpack(messages)).to.have.deep.members(update.resources as Resource[]);
    const { version, full, removed } = packed.end ?? {};
    expect({ version, full, removed }).to.deep.equal({ version: "v", full: true, removed: update.removed });
  });

  it("a packed update contains each body once", async () => {
    const resources = [80, 443, 8443].map((port) => resource(`route|a|${port}`, "1", "same"));
    const [message] = await messagesOf(packUpdate(updateOf(resources)));
    expect(message?.bodies).to.deep.equal(["same"]);
    expect(message?.keys).to.have.length(3);
  });

  it("a packed update separates bodies that claim the same hash", async () => {
    const resources = ["one", "other", "one"].map((body, index) => resource(`route|${index}`, "1", body));
    expect(unpack(await messagesOf(packUpdate(updateOf(resources))))).to.deep.equal(resources);
  });

  it("a packed update separates equal bodies that are read by different schemas", async () => {
    const resources = ["route|a", "endpoints|a", "config|session-key", "config|ticket-keys"].map((key) =>
      resource(key, "1", "{}"),
    );
    const [message] = await messagesOf(packUpdate(updateOf(resources)));
    expect(message?.bodies).to.have.length(4);
  });

  it("each message of a packed update is limited in text, and has all keys of its bodies", async () => {
    const resources = ["a", "b", "c", "d"].flatMap((name) =>
      [80, 443].map((port) => resource(`route|${port}|${name}`, name, name.repeat(name === "c" ? 25 : 6))),
    );
    // As they are sorted in a snapshot: the keys of one body are apart.
    const sorted = resources.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const messages = await messagesOf(packUpdate(updateOf(sorted), 10));
    expect(messages.map((part) => part.bodies.map(({ length }) => length))).to.deep.equal([
      [6],
      [6],
      [25],
      [6],
    ]);
    expect(messages.map(({ keys }) => keys.length)).to.deep.equal([2, 2, 2, 2]);
    expect(unpack(messages)).to.have.deep.members(resources);
  });

  it("a packed update contains the later of two resources with one key", async () => {
    const resources = [resource("route|a", "1", "first"), resource("route|a", "2", "second")];
    expect(unpack(await messagesOf(packUpdate(updateOf(resources), 1)))).to.deep.equal([resources[1]]);
  });

  it("a message of an incoming update is complete before the update is", async () => {
    const incoming = new IncomingUpdate({ version: "v", full: true });
    incoming.add([resource("route|a|443", "1", "same"), resource("route|b|443", "2", "other")]);
    const packed = packIncoming(incoming, 5);
    expect((await packed.part(0))?.bodies).to.deep.equal(["same"]);
    const second = packed.part(1);
    incoming.add([resource("route|a|80", "1", "same"), resource("route|c|80", "3", "third")]);
    expect((await second)?.keys).to.deep.equal(["route|b|443", "route|a|80"]);
    incoming.complete(["x" as ResourceKey]);
    const update = await incoming.whole;
    expect(unpack(await messagesOf(packed))).to.deep.equal(update?.resources);
    expect(packed.end).to.include({ version: "v", full: true });
    expect(packed.end?.removed).to.deep.equal(["x"]);
  });

  it("the messages of an abandoned update have no end", async () => {
    const incoming = new IncomingUpdate({ version: "v", full: true });
    const packed = packIncoming(incoming);
    const first = packed.part(0);
    incoming.add([resource("route|a", "1", "same")]);
    incoming.abandon();
    expect(await first).to.equal(undefined);
    expect(packed.end).to.equal(undefined);
    expect(await incoming.whole).to.equal(undefined);
  });
});
