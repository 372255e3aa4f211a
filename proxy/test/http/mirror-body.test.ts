import { expect } from "chai";
import fc from "fast-check";
import { BodyMemory } from "../../src/http/held-body.ts";
import { MirrorBody } from "../../src/http/mirror-body.ts";
import type { BodyAbortReason, Chunk } from "../../src/message/message.ts";

class Sink {
  text = "";
  ended = 0;
  trailers: readonly string[] | undefined;
  aborted: BodyAbortReason | undefined;
  accepting = true;
  onData(chunk: Chunk): boolean {
    this.text += chunk.toString();
    return this.accepting;
  }
  onEnd(trailers: readonly string[] | undefined): void {
    this.ended++;
    this.trailers = trailers;
  }
  onAbort(reason: BodyAbortReason): void {
    this.aborted = reason;
  }
}

describe("the body of a copy", () => {
  it("the body of a copy arrives whole and in order when the mirror keeps up, independent of when it starts", () => {
    const memory = new BodyMemory(1_000_000);
    for (const startAfter of [0, 2, 5]) {
      const body = new MirrorBody(memory);
      const sink = new Sink();
      for (let i = 0; i < 5; i++) {
        if (i === startAfter) body.start(sink);
        expect(body.onData(Buffer.from(String(i)))).to.equal(true);
      }
      body.onEnd(["X-Sum", "5"]);
      if (startAfter === 5) body.start(sink);
      expect([sink.text, sink.ended, sink.trailers]).to.deep.equal(["01234", 1, ["X-Sum", "5"]]);
      expect(body.incomplete).to.equal(false);
    }
    expect(memory.heldBytes).to.equal(0);
  });

  it("the body of a copy holds 64 pieces for a mirror that reads nothing and drops the others without delay", () => {
    const memory = new BodyMemory(1_000_000);
    const body = new MirrorBody(memory);
    for (let i = 0; i < 100; i++) expect(body.onData("x")).to.equal(true);
    body.onEnd(undefined);
    expect([memory.heldBytes, body.incomplete]).to.deep.equal([64, true]);
    const sink = new Sink();
    body.start(sink);
    expect([sink.text.length, sink.ended, memory.heldBytes]).to.deep.equal([64, 1, 0]);
  });

  it("the bodies of all copies share a bound on bytes", () => {
    const memory = new BodyMemory(10);
    const [one, other] = [new MirrorBody(memory), new MirrorBody(memory)];
    one.onData("12345678");
    other.onData("1234");
    expect([one.incomplete, other.incomplete, memory.heldBytes]).to.deep.equal([false, true, 8]);
    one.release();
    expect(memory.heldBytes).to.equal(0);
    one.onData("more");
    expect(memory.heldBytes).to.equal(0);
  });

  it("the body of a copy aborts with its original, also before it was started, but not after its end", () => {
    const memory = new BodyMemory(100);
    const [early, late, complete] = [new Sink(), new Sink(), new Sink()];
    const body = (): MirrorBody => new MirrorBody(memory);
    const first = body();
    first.start(early);
    first.onData("half");
    first.onAbort("client-closed");
    const second = body();
    second.onData("half");
    second.onAbort("timeout");
    second.start(late);
    const third = body();
    third.onData("all");
    third.onEnd(undefined);
    third.onAbort("client-closed");
    third.start(complete);
    expect([early.aborted, late.aborted, late.text]).to.deep.equal(["client-closed", "timeout", ""]);
    expect([complete.aborted, complete.text, complete.ended]).to.deep.equal([undefined, "all", 1]);
    expect(memory.heldBytes).to.equal(0);
  });

  it("the body of a copy keeps its order and its count of bytes while the mirror stops and resumes", () => {
    const steps = fc.array(fc.constantFrom("piece", "stop", "go"), { maxLength: 300 });
    fc.assert(
      fc.property(steps, (actions) => {
        const memory = new BodyMemory(1_000);
        const body = new MirrorBody(memory);
        const sink = new Sink();
        body.start(sink);
        let next = 0;
        for (const action of actions) {
          if (action === "piece") body.onData(String.fromCharCode(33 + (next++ % 90)));
          else {
            sink.accepting = action === "go";
            if (sink.accepting) body.resume();
          }
        }
        sink.accepting = true;
        body.onEnd(undefined);
        body.resume();
        expect([sink.ended, memory.heldBytes]).to.deep.equal([1, 0]);
        if (!body.incomplete) expect(sink.text).to.have.length(next);
        expect(sink.text.length).to.be.at.most(next);
      }),
    );
  });
});
