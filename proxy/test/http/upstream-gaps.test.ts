import { expect } from "chai";
import { awake } from "../../src/timing/awake-clock.ts";
import { timeoutsFilter } from "../../src/filters/timeouts.ts";
import { createBench, FakeBody } from "./fakes.ts";
import { holdClock } from "./held-clock.ts";
import { Fields } from "../../src/message/fields.ts";

describe("gaps between reads and writes of an upstream", () => {
  const clock = holdClock();

  const bench = () => {
    const under = createBench({ filters: [timeoutsFilter({ readGapMs: 60, sendGapMs: 40 })] });
    return {
      ...under,
      /** Advances the clock, and runs all sweeps. */
      pass(byMs: number): void {
        clock.advance(byMs);
        under.gapSweep.sweep();
        under.active.sweep(awake.nowMs);
      },
    };
  };
  const ok = () => ({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });

  it("a head that does not arrive within the gap is answered 504", () => {
    const under = bench();
    const client = under.request();
    under.upstream.last.handler.onConnection(false);
    under.pass(59);
    expect(client.head).to.equal(undefined);
    under.pass(1);
    expect(client.head?.status).to.equal(504);
    expect(under.upstream.aborted).to.equal(1);
    expect(under.records[0]).to.include({ status: 504, error: "upstream read timeout" });
  });

  it("a response that stops inside its body is cut, and one that goes on is not", () => {
    const under = bench();
    const client = under.request();
    const { handler } = under.upstream.last;
    handler.onConnection(false);
    handler.onHead(ok());
    for (let i = 0; i < 10; i++) {
      under.pass(50);
      handler.onData(Buffer.from("x"));
    }
    expect(client.aborted).to.equal(false);
    under.pass(60);
    expect(client.aborted).to.equal(true);
    expect(under.records[0]).to.include({ status: 200, error: "upstream read timeout" });
  });

  it("the time in which a client does not read the response is no gap of the upstream", () => {
    const under = bench();
    const client = under.request();
    const { handler } = under.upstream.last;
    handler.onConnection(false);
    handler.onHead(ok());
    client.write = () => false;
    handler.onData(Buffer.from("x"));
    under.pass(500);
    expect(client.aborted).to.equal(false);
    client.onDrain?.();
    under.pass(59);
    expect(client.aborted).to.equal(false);
    under.pass(1);
    expect(client.aborted).to.equal(true);
  });

  it("the time in which a client sends its body slowly is no gap of the upstream", () => {
    const under = bench();
    const body = new FakeBody();
    const client = under.request({ method: "POST" }, body);
    const { handler, request } = under.upstream.last;
    handler.onConnection(false);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    body.sink?.onData(Buffer.from("x"));
    under.pass(500);
    expect(client.head).to.equal(undefined);
    body.sink?.onEnd(undefined);
    under.pass(60);
    expect(client.head?.status).to.equal(504);
    expect(under.records[0]?.error).to.equal("upstream read timeout");
  });

  it("an upstream that takes no more of the body is answered 504 with the limit of writes", () => {
    const under = bench();
    const body = new FakeBody();
    const client = under.request({ method: "POST" }, body);
    const { handler, request } = under.upstream.last;
    handler.onConnection(false);
    request.body?.start({ onData: () => false, onEnd: () => {}, onAbort: () => {} });
    body.sink?.onData(Buffer.from("x"));
    under.pass(39);
    request.body?.resume();
    under.pass(500);
    expect(client.head).to.equal(undefined);
    body.sink?.onData(Buffer.from("x"));
    under.pass(40);
    expect(client.head?.status).to.equal(504);
    expect(under.records[0]?.error).to.equal("upstream send timeout");
  });

  it("an interim response begins the gap again", () => {
    const under = bench();
    const client = under.request();
    const { handler } = under.upstream.last;
    handler.onConnection(false);
    under.pass(50);
    handler.onInformational(103, []);
    under.pass(50);
    expect(client.head).to.equal(undefined);
    under.pass(10);
    expect(client.head?.status).to.equal(504);
  });

  it("a gap that is longer than the idle timeout of the proxy replaces it", () => {
    const under = createBench({ filters: [timeoutsFilter({ readGapMs: 4_000 })] });
    const client = under.request();
    under.upstream.last.handler.onConnection(false);
    clock.advance(3_999);
    under.active.sweep(awake.nowMs);
    under.gapSweep.sweep();
    expect(client.head).to.equal(undefined);
    clock.advance(1);
    under.gapSweep.sweep();
    expect(under.records[0]?.error).to.equal("upstream read timeout");
  });

  it("a request that has ended is not checked any more", () => {
    const under = bench();
    const left = under.request();
    under.upstream.last.handler.onConnection(false);
    left.onClose?.("client-closed");
    const done = under.request();
    const { handler } = under.upstream.last;
    handler.onConnection(false);
    handler.onHead(ok());
    handler.onEnd(undefined);
    under.pass(1_000);
    expect(done).to.include({ ended: true, aborted: false });
    expect(under.records.map(({ status }) => status)).to.deep.equal([499, 200]);
  });
});
