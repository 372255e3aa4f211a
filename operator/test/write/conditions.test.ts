import { expect } from "chai";
import type { DesiredCondition } from "../../src/translate/condition.ts";
import { mergeConditions, mergeOwnedEntries } from "../../src/write/conditions.ts";

const nowMs = Date.parse("2026-03-01T12:00:00.500Z");
const owned = new Set(["Accepted", "Programmed"]);

const accepted: DesiredCondition = { type: "Accepted", status: "True", reason: "Accepted", message: "" };
const present = {
  ...accepted,
  observedGeneration: 3,
  lastTransitionTime: "2026-01-01T00:00:00Z",
};
const foreign = {
  type: "example.com/Scanned",
  status: "True",
  reason: "Clean",
  message: "kept",
  lastTransitionTime: "2025-01-01T00:00:00Z",
  extension: { unknown: true },
};

const merge = (input: Partial<Parameters<typeof mergeConditions>[0]>): unknown[] =>
  mergeConditions({ current: undefined, desired: [accepted], owned, generation: 3, nowMs, ...input });

describe("mergeConditions", () => {
  it("a new condition has the present time in whole seconds", () => {
    expect(merge({})).to.deep.equal([
      { ...accepted, observedGeneration: 3, lastTransitionTime: "2026-03-01T12:00:00Z" },
    ]);
  });

  it("an unchanged condition is returned as is", () => {
    expect(merge({ current: [present] })[0]).to.equal(present);
  });

  it("the transition time stays while only generation, reason or message change", () => {
    const desired = [{ ...accepted, reason: "Other", message: "more" }];
    expect(merge({ current: [present], desired, generation: 4 })).to.deep.equal([
      { ...present, reason: "Other", message: "more", observedGeneration: 4 },
    ]);
  });

  it("the transition time moves when the status changes", () => {
    const desired: DesiredCondition[] = [{ ...accepted, status: "False", reason: "Invalid" }];
    expect(merge({ current: [present], desired })).to.deep.equal([
      { ...desired[0], observedGeneration: 3, lastTransitionTime: "2026-03-01T12:00:00Z" },
    ]);
  });

  it("conditions of other controllers stay where and as they are, with unknown fields", () => {
    const [first, second, third] = merge({
      current: [foreign, present],
      desired: [accepted, { ...accepted, type: "Programmed" }],
    });
    expect(first).to.equal(foreign);
    expect(second).to.equal(present);
    expect(third).to.include({ type: "Programmed" });
  });

  it("an owned condition that is no longer desired is removed", () => {
    expect(merge({ current: [present, { ...present, type: "Programmed" }, foreign] })).to.deep.equal([
      present,
      foreign,
    ]);
  });

  it("a condition of a newer generation is not replaced", () => {
    const desired: DesiredCondition[] = [{ ...accepted, status: "False", reason: "Invalid" }];
    expect(merge({ current: [{ ...present, observedGeneration: 7 }], desired })[0]).to.include({
      status: "True",
      observedGeneration: 7,
    });
  });

  for (const current of [null, "conditions", 7, [null, "x"]]) {
    it(`a malformed list ${JSON.stringify(current)} is replaced`, () => {
      expect(merge({ current })).to.have.length(1);
    });
  }
});

describe("mergeOwnedEntries", () => {
  type Parent = { readonly controllerName: string; readonly name: string; readonly extra?: number };
  const mergeParents = (current: unknown, desired: readonly (readonly [string, Parent])[]): unknown[] =>
    mergeOwnedEntries<Parent>({
      current,
      desired: new Map(desired.map(([name, parent]) => [name, () => parent])),
      isOurs: ({ controllerName }) => controllerName === "ours",
      keyOf: ({ name }) => name,
    });
  const ours = (name: string, extra?: number): Parent => ({
    controllerName: "ours",
    name,
    ...(extra !== undefined && { extra }),
  });
  const theirs = (name: string): Parent => ({ controllerName: "theirs", name });

  it("own entries are replaced in place, added or removed, and those of other controllers stay", () => {
    expect(
      mergeParents(
        [theirs("a"), ours("a"), ours("gone"), theirs("b")],
        [
          ["a", ours("a", 1)],
          ["c", ours("c")],
        ],
      ),
    ).to.deep.equal([theirs("a"), ours("a", 1), theirs("b"), ours("c")]);
  });

  it("the replacing entry is computed from the present one", () => {
    const seen: unknown[] = [];
    mergeOwnedEntries<Parent>({
      current: [ours("a", 5)],
      desired: new Map([["a", (entry: Parent | undefined) => (seen.push(entry), ours("a"))]]),
      isOurs: () => true,
      keyOf: ({ name }) => name,
    });
    expect(seen).to.deep.equal([ours("a", 5)]);
  });
});
