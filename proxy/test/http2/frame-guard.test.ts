import { expect } from "chai";
import { FrameGuard, type PeerFlood } from "../../src/http2/connection/frame-guard.ts";

type Count = (guard: FrameGuard, nowMs: number) => PeerFlood | undefined;

/** How often something may happen before it counts as a flood; undefined if that exceeds every limit. */
function limitOf(count: Count, guard = new FrameGuard({ asServer: true }), nowMs = 0): number | undefined {
  for (let times = 0; times < 20_000; times++) if (count(guard, nowMs) !== undefined) return times;
  return undefined;
}

const kinds: Readonly<Record<string, { readonly count: Count; readonly limit: number }>> = {
  PING: { count: (guard, now) => guard.countPing(now), limit: 999 },
  SETTINGS: { count: (guard, now) => guard.countSettings(now), limit: 199 },
  WINDOW_UPDATE: { count: (guard, now) => guard.countMinor("windows", now), limit: 999 },
  "PRIORITY and PRIORITY_UPDATE": { count: (guard, now) => guard.countMinor("priorities", now), limit: 999 },
  "frames on closed streams": { count: (guard, now) => guard.countMinor("strays", now), limit: 999 },
  "unknown frames": { count: (guard, now) => guard.countUnknown(now, 0), limit: 999 },
  "reset streams": { count: (guard, now) => guard.countReset(now), limit: 200 },
};

describe("the guard of HTTP/2 frames", () => {
  for (const [name, { count, limit }] of Object.entries(kinds)) {
    it(`the guard allows ${limit} of ${name} within ten seconds, beside any number of others`, () => {
      const guard = new FrameGuard({ asServer: true });
      for (const other of Object.values(kinds)) {
        if (other.count !== count) for (let i = 0; i < other.limit; i++) other.count(guard, 0);
      }
      expect(limitOf(count, guard)).to.equal(limit);
    });

    it(`the guard forgets ${name} after ten seconds`, () => {
      const guard = new FrameGuard({ asServer: true });
      for (let i = 0; i < limit; i++) count(guard, 0);
      expect(limitOf(count, guard, 10_001)).to.equal(limit);
    });
  }

  it("the guard allows 100 empty DATA frames in a row, however long they take", () => {
    const guard = new FrameGuard({ asServer: true });
    let nowMs = 0;
    expect(limitOf((one) => one.countEmpty((nowMs += 1000)), guard)).to.equal(100);
  });

  it("the guard allows any number of empty DATA frames if content follows each hundred of them", () => {
    const guard = new FrameGuard({ asServer: true });
    let frames = 0;
    const count: Count = (one, now) => {
      if (frames++ % 100 === 0) one.endEmpty();
      return one.countEmpty(now);
    };
    expect(limitOf(count, guard)).to.equal(undefined);
  });

  it("the guard counts unknown frames by their length as well", () => {
    expect(limitOf((guard, now) => guard.countUnknown(now, 16_384))).to.equal(58);
  });

  it("the guard counts resets only when more than half of the streams were reset", () => {
    const half: Count = (guard, now) => {
      guard.countOpened(now);
      guard.countOpened(now);
      return guard.countReset(now);
    };
    expect(limitOf(half)).to.equal(undefined);
  });

  it("the guard lets a peer send eight frames free for each stream, and more for content that it gets", () => {
    const guard = new FrameGuard({ asServer: true });
    guard.countOpened(0);
    guard.countSent(2560);
    expect(limitOf((one, now) => one.countMinor("windows", now), guard)).to.equal(999 + 8 + 4 + 10);
    expect(limitOf((one, now) => one.countPing(now), guard)).to.equal(1000);
  });

  it("the guard of a server allows it any number of resets, and of empty DATA as many as of other frames", () => {
    const guard = new FrameGuard({ asServer: false });
    expect(limitOf((one, now) => one.countReset(now), guard)).to.equal(undefined);
    expect(limitOf((one, now) => one.countEmpty(now), guard)).to.equal(999);
  });
});
