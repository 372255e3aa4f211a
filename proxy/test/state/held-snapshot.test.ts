import { expect } from "chai";
import type { Resource } from "@svc-gateway/common/ir/resource.ts";
import {
  createSnapshot,
  diffSnapshots,
  fullUpdate,
  type SnapshotUpdate,
} from "@svc-gateway/common/ir/snapshot.ts";
import { HeldSnapshot } from "../../src/state/held-snapshot.ts";
import { endpoints, host, routeTo } from "./support.ts";

const web = endpoints("ns/web/http", "10.0.0.1");
const moved = endpoints("ns/web/http", "10.0.0.2");
const routes = [routeTo("ingress/ns/web:0.0", "/", [])];
const cleartext = host("web.example.com", routes);
const encrypted = host("web.example.com", routes, { port: 443 });

const hold = (held: HeldSnapshot, update: SnapshotUpdate): void => {
  const verified = held.offer(update).verify();
  if (!verified.ok) throw new Error(verified.error.message);
  verified.value.hold();
};

const holding = (...resources: readonly Resource[]): HeldSnapshot => {
  const held = new HeldSnapshot();
  hold(held, fullUpdate(createSnapshot(resources)));
  return held;
};

describe("the held snapshot", () => {
  it("tells of a body once that several resources have", () => {
    const { changes } = new HeldSnapshot().offer(fullUpdate(createSnapshot([web, cleartext, encrypted])));
    expect(changes.keys).to.have.members([web.key, cleartext.key, encrypted.key]);
    expect(changes.bodies).to.have.members([web.body, cleartext.body]);
    for (const { key, body } of [web, cleartext, encrypted]) {
      expect(changes.bodies[changes.bodyOf[changes.keys.indexOf(key)] ?? -1]).to.equal(body);
    }
  });

  it("tells only of what differs, also of a full update", () => {
    const held = holding(web, cleartext);
    const { changes } = held.offer(fullUpdate(createSnapshot([moved, encrypted])));
    expect(changes.keys).to.have.members([moved.key, encrypted.key]);
    expect(changes.removed).to.deep.equal([cleartext.key]);
    const same = held.offer(fullUpdate(createSnapshot([web, cleartext])));
    expect([same.changes.keys, same.changes.removed]).to.deep.equal([[], []]);
  });

  it("does not tell of a removal of what is not there", () => {
    const { changes } = holding(web).offer({
      version: "",
      full: false,
      resources: [],
      removed: [cleartext.key],
    });
    expect(changes.removed).to.deep.equal([]);
  });

  it("has everything for a worker that starts later, and nothing before the first snapshot", () => {
    expect(new HeldSnapshot().asChanges()).to.equal(undefined);
    const held = holding(web, cleartext);
    const next = createSnapshot([moved, encrypted]);
    hold(held, diffSnapshots(createSnapshot([web, cleartext]), next));
    const everything = held.asChanges();
    expect(everything?.version).to.equal(next.version);
    expect(everything?.keys).to.have.members([moved.key, encrypted.key]);
    expect(everything?.bodies).to.have.members([moved.body, encrypted.body]);
  });

  it("keeps what it has while an update is not held, or not what it says", () => {
    const held = holding(web);
    const update = fullUpdate(createSnapshot([moved]));
    expect(held.offer(update).verify().ok).to.equal(true);
    expect(held.offer({ ...update, version: web.hash }).verify().ok).to.equal(false);
    expect(held.offer({ ...update, resources: [{ ...moved, body: web.body }] }).verify().ok).to.equal(false);
    expect(held.asChanges()?.bodies).to.deep.equal([web.body]);
  });
});
