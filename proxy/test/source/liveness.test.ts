import { expect } from "chai";
import { createLiveness } from "@svc-gateway/proxy/source/liveness.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";

function setUp() {
  const clock = createManualClock(0);
  const events: string[] = [];
  const liveness = createLiveness({
    limits: { pingMs: 5_000, silenceMs: 10_000 },
    after: (ms, callback) => clock.schedule(ms, callback),
    ping: () => events.push(`ping ${clock.nowMs()}`),
    onSilent: () => events.push(`silent ${clock.nowMs()}`),
  });
  return { clock, events, liveness };
}

describe("the liveness of a controller", () => {
  it("a silent controller is pinged after five seconds and given up after ten", async () => {
    const { clock, events, liveness } = setUp();
    liveness.received();
    await clock.advance(10_000);
    liveness.stop();
    expect(events).to.include.members(["ping 5000", "silent 10000"]);
  });

  it("every message restarts the silence, and the controller is pinged again after each", async () => {
    const { clock, events, liveness } = setUp();
    for (let round = 0; round < 5; round++) {
      liveness.received();
      await clock.advance(6_000);
    }
    liveness.stop();
    expect(events).to.deep.equal(["ping 5000", "ping 11000", "ping 17000", "ping 23000", "ping 29000"]);
  });

  it("the silence does not run while reading is suspended, nor after stop", async () => {
    const { clock, events, liveness } = setUp();
    liveness.received();
    liveness.suspend();
    await clock.advance(60_000);
    liveness.received();
    liveness.stop();
    liveness.received();
    await clock.advance(60_000);
    expect(events).to.deep.equal([]);
    expect(clock.pending()).to.equal(0);
  });
});
