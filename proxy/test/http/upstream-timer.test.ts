import { mock } from "node:test";
import { expect } from "chai";
import { UpstreamTimer, type UpstreamTimeouts } from "../../src/http/upstream-timer.ts";
import { holdClock } from "./held-clock.ts";
import { mockTimers } from "../mock-timers.ts";

describe("the upstream timer", () => {
  // A timer that is much too late lets arrived data be read before it expires.
  holdClock();
  mockTimers();

  function start(limits: UpstreamTimeouts) {
    const expired: string[] = [];
    return { timer: new UpstreamTimer(limits, (error) => expired.push(error)), expired };
  }
  const both = { sendTimeoutMs: 100, readTimeoutMs: 50 };

  it("the upstream timer waits for a response from the connection on when there is no body", () => {
    const { timer, expired } = start(both);
    mock.timers.tick(1000);
    timer.connected(false);
    mock.timers.tick(49);
    expect(expired).to.deep.equal([]);
    mock.timers.tick(1);
    expect(expired).to.deep.equal(["upstream read timeout"]);
  });

  it("the upstream timer first limits the body, then the wait for the response", () => {
    const { timer, expired } = start(both);
    timer.connected(true);
    mock.timers.tick(99);
    timer.requestSent();
    mock.timers.tick(49);
    expect(expired).to.deep.equal([]);
    mock.timers.tick(1);
    expect(expired).to.deep.equal(["upstream read timeout"]);
  });

  it("the upstream timer expires when the body takes too long", () => {
    const { timer, expired } = start(both);
    timer.connected(true);
    mock.timers.tick(100);
    expect(expired).to.deep.equal(["upstream send timeout"]);
  });

  it("the upstream timer begins again on another connection", () => {
    const { timer, expired } = start(both);
    timer.connected(true);
    mock.timers.tick(60);
    timer.connected(true);
    mock.timers.tick(60);
    expect(expired).to.deep.equal([]);
  });

  it("the upstream timer stops when the response has begun, also for a body that ends later", () => {
    const { timer, expired } = start(both);
    timer.connected(true);
    timer.stop();
    timer.requestSent();
    mock.timers.tick(1000);
    expect(expired).to.deep.equal([]);
  });

  it("the upstream timer has no limit where none is set", () => {
    const { timer, expired } = start({ sendTimeoutMs: 100 });
    timer.connected(true);
    timer.requestSent();
    mock.timers.tick(1000);
    expect(expired).to.deep.equal([]);
  });
});
