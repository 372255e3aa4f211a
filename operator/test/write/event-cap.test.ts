import { expect } from "chai";
import { createEventCap } from "../../src/write/event-cap.ts";
import type { ObjectEvent } from "../../src/write/event-object.ts";

const eventOf = (name: string, index: number, reason = "RouteConflict"): ObjectEvent => ({
  regarding: {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    namespace: "ns",
    name,
    uid: `uid-${name}`,
  },
  type: "Warning",
  reason,
  message: `conflict ${index}`,
});

const many = (name: string, count: number, reason?: string): readonly ObjectEvent[] =>
  Array.from({ length: count }, (_, index) => eventOf(name, index, reason));

describe("the cap of Events of one object", () => {
  it("an object has at most a hundred Events per reason, and one with the number of the others", () => {
    const cap = createEventCap();
    const events = [...many("big", 7000), ...many("small", 100), ...many("big", 3, "InvalidAnnotation")];
    const kept = cap(events);
    expect(kept).to.have.length(100 + 100 + 3 + 1);
    expect(kept.slice(0, 100)).to.deep.equal(events.slice(0, 100));
    expect(kept.at(-1)).to.deep.equal({
      ...eventOf("big", 0),
      message: "6900 more findings with this reason; only the first 100 of an object get an Event each",
    });
  });

  it("an unchanged Event keeps its identity from one build to the next", () => {
    const cap = createEventCap();
    const first = cap(many("big", 200));
    expect(cap(many("big", 200)).at(-1)).to.equal(first.at(-1));
    expect(cap(many("big", 201)).at(-1)).to.not.equal(first.at(-1));
  });

  it("a hundred Events or fewer are returned unchanged", () => {
    const events = many("a", 100);
    expect(createEventCap()(events)).to.equal(events);
  });
});
