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
  "SETTINGS and unknown frames": { count: (guard, now) => guard.countControl(now), limit: 999 },
  "WINDOW_UPDATE, priorities and frames on closed streams": {
    count: (guard, now) => guard.countMinor(now),
    limit: 999,
  },
  "groups of three control frames": {
    count: (guard, now) => guard.countPing(now) ?? guard.countControl(now) ?? guard.countMinor(now),
    limit: 333,
  },
  "reset streams": { count: (guard, now) => guard.countReset(now), limit: 200 },
};

describe("the guard of HTTP/2 frames", () => {
  for (const [name, { count, limit }] of Object.entries(kinds)) {
    it(`the guard allows ${limit} of ${name} within ten seconds`, () => {
      expect(limitOf(count)).to.equal(limit);
    });

    it(`the guard forgets ${name} after ten seconds`, () => {
      const guard = new FrameGuard({ asServer: true });
      for (let i = 0; i < limit; i++) count(guard, 0);
      expect(limitOf(count, guard, 10_001)).to.equal(limit);
    });
  }

  it("the guard counts control frames, reset streams and empty DATA separately", () => {
    const guard = new FrameGuard({ asServer: true });
    for (let i = 0; i < 999; i++) guard.countControl(0);
    for (let i = 0; i < 200; i++) expect(guard.countReset(0)).to.equal(undefined);
    for (let i = 0; i < 100; i++) expect(guard.countEmpty(0)).to.equal(undefined);
    expect(guard.countControl(0)).to.equal("control-flood");
    expect(guard.countReset(0)).to.equal("reset-flood");
    expect(guard.countEmpty(0)).to.equal("frame-flood");
  });

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
    expect(limitOf((one, now) => one.countMinor(now), guard)).to.equal(999 + 8 + 4 + 10);
  });

  it("the guard lets a peer send one PING free for each piece of content that it gets", () => {
    const guard = new FrameGuard({ asServer: true });
    guard.countSent(1);
    expect(limitOf((one, now) => one.countPing(now), guard)).to.equal(1000);
  });

  it("the guard lets a peer send 999 other control frames, however many free ones it sends", () => {
    const guard = new FrameGuard({ asServer: true });
    for (let i = 0; i < 5000; i++) {
      guard.countSent(1);
      expect(guard.countMinor(0) ?? guard.countPing(0)).to.equal(undefined);
    }
    expect(limitOf((one, now) => one.countControl(now), guard)).to.equal(999);
  });

  it("the guard of a server allows it any number of resets, and of empty DATA as many as of other frames", () => {
    const guard = new FrameGuard({ asServer: false });
    expect(limitOf((one, now) => one.countReset(now), guard)).to.equal(undefined);
    expect(limitOf((one, now) => one.countEmpty(now), guard)).to.equal(999);
  });
});
