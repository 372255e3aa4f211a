import { expect } from "chai";
import type { Listing } from "../../../src/sources/files/listing.ts";
import { createSettling, settleTimes, type Settling } from "../../../src/sources/files/settling.ts";

const times = { ...settleTimes, quietMs: 20, vanishedQuietMs: 80, maxMs: 130 };

/** A listing of files given as `name: [signature, bytes]`. */
const listing = (files: Record<string, readonly [signature: string, bytes: number]>): Listing => ({
  files: Object.entries(files).map(([path, [signature, bytes]]) => ({
    path,
    realPath: path,
    signature,
    inode: path,
    bytes,
  })),
  unreadable: [],
  directories: new Map(),
  problems: [],
});

const before = listing({ "a.yaml": ["1", 10], "b.yaml": ["1", 10] });

function createAccepted(): Settling {
  const settling = createSettling(times);
  settling.accept(before);
  return settling;
}

describe("createSettling", () => {
  it("the first listing is applied at once", () => {
    expect(createSettling(times).observe(before, 0)).to.deep.equal({ type: "settled" });
  });

  it("a listing that was applied before is unchanged", () => {
    expect(createAccepted().observe(before, 5)).to.deep.equal({ type: "unchanged" });
  });

  it("a change is applied once it has been quiet", () => {
    const settling = createAccepted();
    const changed = listing({ "a.yaml": ["2", 10], "b.yaml": ["1", 10] });
    expect(settling.observe(changed, 100)).to.deep.equal({ type: "wait", waitMs: 20 });
    expect(settling.observe(changed, 115)).to.deep.equal({ type: "wait", waitMs: 5 });
    expect(settling.observe(changed, 120)).to.deep.equal({ type: "settled" });
  });

  it("each further change restarts the quiet time", () => {
    const settling = createAccepted();
    settling.observe(listing({ "a.yaml": ["2", 10], "b.yaml": ["1", 10] }), 0);
    const later = listing({ "a.yaml": ["3", 10], "b.yaml": ["1", 10] });
    expect(settling.observe(later, 19)).to.deep.equal({ type: "wait", waitMs: 20 });
  });

  for (const [what, vanished] of Object.entries({
    "has gone": listing({ "b.yaml": ["1", 10] }),
    "is empty": listing({ "a.yaml": ["2", 0], "b.yaml": ["1", 10] }),
  })) {
    it(`the quiet time is longer when a file ${what}`, () => {
      const settling = createAccepted();
      expect(settling.observe(vanished, 0)).to.deep.equal({ type: "wait", waitMs: 80 });
      expect(settling.observe(before, 10), "it is back as it was").to.deep.equal({ type: "unchanged" });
    });
  }

  it("the quiet time is not longer for a new file that is empty", () => {
    const files = listing({ "a.yaml": ["1", 10], "b.yaml": ["1", 10], "c.yaml": ["1", 0] });
    expect(createAccepted().observe(files, 0)).to.deep.equal({ type: "wait", waitMs: 20 });
  });

  it("a folder that keeps changing is applied after the maximum time", () => {
    const settling = createAccepted();
    for (let nowMs = 0; nowMs < 130; nowMs += 10) {
      const files = listing({ "a.yaml": [`at ${nowMs}`, 10] });
      expect(settling.observe(files, nowMs).type).to.equal("wait");
    }
    const last = listing({ "a.yaml": ["at last", 10] });
    expect(settling.observe(last, 130)).to.deep.equal({ type: "settled" });
  });

  it("a change of what cannot be read counts as a change", () => {
    const problems = [
      { severity: "error", reason: "Unreadable", file: "c.yaml", message: "the file may not be read" },
    ] as const;
    expect(createAccepted().observe({ ...before, problems }, 0).type).to.equal("wait");
  });
});
