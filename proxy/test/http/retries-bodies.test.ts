import { expect } from "chai";
import { Fields } from "../../src/message/fields.ts";
import { FakeBody } from "./fakes.ts";
import { answer, benchWith, fail, head, post, take, turn } from "./retry-bench.ts";

describe("retries: the request body", () => {
  it("a retry sends the request body again as it was, with its trailers", async () => {
    const bench = benchWith();
    post(bench, ["hello ", "world"]);
    await answer(bench, head(503));
    expect(bench.upstream.last.request.body?.started).to.equal(false);
    expect(take(bench)).to.deep.equal({ text: "hello world", trailers: ["X-Sum", "1"], ended: true });
    await answer(bench, head(503));
    expect(take(bench).text).to.equal("hello world");
  });

  it("a retry holds the end of the body back until a full upstream resumes", async () => {
    const bench = benchWith();
    post(bench, ["hello"]);
    await answer(bench, head(503));
    let ended = false;
    const { body } = bench.upstream.last.request;
    body?.start({ onData: () => false, onEnd: () => (ended = true), onAbort: () => {} });
    expect(ended).to.equal(false);
    body?.resume();
    expect(ended).to.equal(true);
  });

  it("a body that is larger than the retry buffer is not retried, also when its length was declared", async () => {
    const streamed = benchWith();
    const client = post(streamed, ["0123456789", "0123456"]);
    await answer(streamed, head(503));
    expect([streamed.upstream.sent.length, client.head?.status]).to.deep.equal([1, 503]);
    const declared = benchWith();
    const body = new FakeBody(17);
    declared.request({ method: "PUT" }, body);
    take(declared);
    body.sink?.onData("0123456789abcdefg");
    body.sink?.onEnd(undefined);
    await fail(declared, "reset");
    expect(declared.upstream.sent).to.have.length(1);
  });

  it("a body that fills the retry buffer to its last byte is retried", async () => {
    const bench = benchWith();
    post(bench, ["0123456789", "012345"]);
    await answer(bench, head(503));
    expect(take(bench).text).to.equal("0123456789012345");
  });

  it("a body that has arrived in part is continued in the next attempt", async () => {
    for (const body of [new FakeBody(), new FakeBody(1_000_000)]) {
      const bench = benchWith();
      bench.request({ method: "POST" }, body);
      take(bench);
      body.sink?.onData("some");
      await answer(bench, head(503));
      expect([bench.upstream.sent.length, bench.upstream.aborted]).to.deep.equal([2, 1]);
      // Arrives before the next attempt reads the body.
      expect(body.sink?.onData(" more")).to.equal(false);
      const got = take(bench);
      expect([got.text, body.resumed]).to.deep.equal(["some more", 1]);
      body.sink?.onData(" and the rest");
      expect(got.text).to.equal("some more and the rest");
    }
  });

  it("a body that has arrived in part is not retried once more was read than the retry buffer holds", async () => {
    const bench = benchWith();
    const body = new FakeBody();
    const client = bench.request({ method: "POST" }, body);
    take(bench);
    body.sink?.onData("0123456789abcdefg");
    await answer(bench, head(503));
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 503]);
  });

  it("a body of any size that waits for 100 (Continue) is retried after a response, without a second 100", async () => {
    const bench = benchWith();
    const body = new FakeBody(1_000_000);
    const headers = Fields.of(["Host", "a", "Expect", "100-continue"]);
    const client = bench.request({ method: "POST", headers }, body);
    await answer(bench, head(503));
    expect([bench.upstream.sent.length, bench.upstream.last.request.expectContinue]).to.deep.equal([2, true]);
    bench.upstream.last.handler.onInformational(100, []);
    take(bench);
    body.sink?.onData("some");
    await answer(bench, head(503));
    expect([bench.upstream.sent.length, bench.upstream.last.request.expectContinue]).to.deep.equal([
      3,
      false,
    ]);
    bench.upstream.last.handler.onInformational(100, []);
    expect(take(bench).text).to.equal("some");
    expect(client.informational.map(([status]) => status)).to.deep.equal([100]);
  });

  it("a body of any size is retried after a failed connect, because nothing of it was read", async () => {
    const bench = benchWith();
    const body = new FakeBody(1_000_000);
    bench.request({ method: "POST" }, body);
    await fail(bench, "refused");
    const got = take(bench);
    body.sink?.onData("x".repeat(100));
    expect(got.text).to.have.length(100);
  });

  it("a body that the client breaks off is not retried", async () => {
    const bench = benchWith();
    const body = new FakeBody();
    const client = bench.request({ method: "PUT" }, body);
    bench.upstream.readBody();
    body.sink?.onAbort("malformed");
    await turn();
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 400]);
  });
});
