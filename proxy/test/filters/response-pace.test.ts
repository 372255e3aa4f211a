import { mock } from "node:test";
import { expect } from "chai";
import { paceBody } from "../../src/filters/response-pace.ts";
import type { Chunk } from "../../src/message/message.ts";
import { mockTimers } from "../mock-timers.ts";

describe("the pace of a response", () => {
  mockTimers();

  function paced(bytesPerSecond: number, afterBytes: number) {
    const state = { nowMs: 0, text: "", resumed: 0, ended: false, takes: true };
    const body = paceBody(
      { bytesPerSecond, afterBytes },
      {
        client: {
          onData: (chunk: Chunk) => {
            state.text += chunk.toString("latin1");
            return state.takes;
          },
          onEnd: () => void (state.ended = true),
          onAbort: () => {},
        },
        upstream: { resume: () => void state.resumed++ },
      },
      () => state.nowMs,
    );
    const pass = (ms: number): void => {
      state.nowMs += ms;
      mock.timers.tick(ms);
    };
    return { state, body, pass };
  }

  it("a body is sent at its pace after the first bytes, and the upstream waits meanwhile", () => {
    const { state, body, pass } = paced(10, 4);
    expect(body.onData(Buffer.from("0123456789"))).to.equal(false);
    expect(state.text).to.equal("0123");
    pass(300);
    expect(state.text).to.equal("0123456");
    expect(state.resumed).to.equal(0);
    pass(300);
    expect(state.text).to.equal("0123456789");
    expect(state.resumed).to.equal(1);
    body.onEnd(undefined);
    expect(state.ended).to.equal(true);
  });

  it("the end of a body waits until its bytes are sent", () => {
    const { state, body, pass } = paced(10, 0);
    body.onData("abc");
    body.onEnd(undefined);
    expect([state.text, state.ended]).to.deep.equal(["", false]);
    pass(400);
    expect([state.text, state.ended]).to.deep.equal(["abc", true]);
  });

  it("a client that takes no more holds a paced body until it does", () => {
    const { state, body, pass } = paced(1_000, 0);
    state.takes = false;
    pass(1_000);
    expect(body.onData("abc")).to.equal(false);
    expect(state.text).to.equal("abc");
    body.onData("d");
    pass(1_000);
    expect(state.text).to.equal("abc");
    state.takes = true;
    body.resume();
    expect([state.text, state.resumed]).to.deep.equal(["abcd", 1]);
  });

  it("a paced body that is cancelled sends nothing more", () => {
    const { state, body, pass } = paced(10, 0);
    body.onData("abc");
    body.cancel();
    pass(1_000);
    expect([state.text, state.ended]).to.deep.equal(["", false]);
  });
});
