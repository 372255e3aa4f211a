import { expect } from "chai";
import { createLiveness } from "@svc-gateway/proxy/source/liveness.ts";
import { createManualClock } from "../../../common/test/time/manual-clock.ts";

function setUp() {
  const clock = createManualClock(0);
  const told: string[] = [];
  const liveness = createLiveness({
    limits: { pingMs: 5_000, silenceMs: 10_000 },
    after: (ms, callback) => clock.schedule(ms, callback),
    ping: () => told.push(`ping ${clock.nowMs()}`),
    onSilent: () => told.push(`silent ${clock.nowMs()}`),
  });
  return { clock, told, liveness };
}

describe("the liveness of a controller", () => {
  it("a silent controller is pinged after five seconds and given up after ten", async () => {
    const { clock, told, liveness } = setUp();
    liveness.heard();
    await clock.advance(10_000);
    liveness.stop();
    expect(told).to.include.members(["ping 5000", "silent 10000"]);
  });

  it("every message restarts the silence, and the controller is pinged again after each", async () => {
    const { clock, told, liveness } = setUp();
    for (let round = 0; round < 5; round++) {
      liveness.heard();
      await clock.advance(6_000);
    }
    liveness.stop();
    expect(told).to.deep.equal(["ping 5000", "ping 11000", "ping 17000", "ping 23000", "ping 29000"]);
  });

  it("the silence does not run while reading is suspended, nor after stop", async () => {
    const { clock, told, liveness } = setUp();
    liveness.heard();
    liveness.suspend();
    await clock.advance(60_000);
    liveness.heard();
    liveness.stop();
    liveness.heard();
    await clock.advance(60_000);
    expect(told).to.deep.equal([]);
    expect(clock.pending()).to.equal(0);
  });
});
