import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { BodyEnds, Filter } from "../../src/exchange/filter.ts";
import { createBench, FakeBody } from "./fakes.ts";
import { Fields } from "../../src/message/fields.ts";
import { SocketTransport } from "../../src/sockets/socket-transport.ts";

describe("pipeline: Expect, filters, upgrades", () => {
  it("the proxy answers 100 itself when the upstream starts the body without one", () => {
    const bench = createBench();
    const client = bench.request(
      { method: "POST", headers: Fields.of(["Host", "a", "Expect", "100-Continue"]) },
      new FakeBody(3),
    );
    const { request } = bench.upstream.last;
    expect(request.expectContinue).to.equal(true);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    expect(client.informational.map(([status]) => status)).to.deep.equal([100]);
  });

  it("the proxy sends no 100 for an empty body", () => {
    const bench = createBench();
    const headers = ["Host", "a", "Expect", "100-continue"];
    const client = bench.request({ method: "POST", headers: Fields.of(headers) }, new FakeBody(0));
    const { request } = bench.upstream.last;
    expect(request.expectContinue).to.equal(false);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    expect(client.informational).to.deep.equal([]);
  });

  it("the upstream's 100 is relayed and not followed by another one", () => {
    const bench = createBench();
    const headers = ["Host", "a", "Expect", "100-continue"];
    const client = bench.request({ method: "POST", headers: Fields.of(headers) }, new FakeBody(3));
    const { request, handler } = bench.upstream.last;
    handler.onInformational(100, []);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    expect(client.informational).to.have.length(1);
  });

  it("the first filter that answers ends the request, also after one that takes time", async () => {
    const seen: string[] = [];
    let release: (() => void) | undefined;
    const waiting = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
    const bench = createBench({
      filters: [
        { slug: "one", onRequest: () => waiting },
        { slug: "two", onRequest: () => (seen.push("two"), { status: 403 }) },
        { slug: "three", onRequest: () => (seen.push("three"), undefined) },
      ],
    });
    const client = bench.request();
    expect(seen).to.deep.equal([]);
    release?.();
    await waiting;
    await Promise.resolve();
    expect(seen).to.deep.equal(["two"]);
    expect(client.head?.status).to.equal(403);
    expect(bench.upstream.sent).to.have.length(0);
  });

  const bug = new Error("a bug");
  const afterWaiting: readonly [string, Filter[]][] = [
    ["that waits", [{ slug: "one", onRequest: () => Promise.reject(bug) }]],
    [
      "behind one that waits",
      [
        { slug: "one", onRequest: () => Promise.resolve(undefined) },
        {
          slug: "two",
          onRequest: () => {
            throw bug;
          },
        },
      ],
    ],
  ];
  for (const [which, filters] of afterWaiting) {
    it(`a bug in a filter ${which} is answered 500, counted and logged`, async () => {
      const bench = createBench({ filters });
      const client = bench.request();
      await setImmediate();
      expect(client.head?.status).to.equal(500);
      expect(bench.records.map(({ error }) => error)).to.deep.equal(["filter failed"]);
      expect(bench.log.lines).to.deep.equal([
        { level: "error", fields: { err: bug }, message: "request failed inside the proxy" },
      ]);
      expect(bench.metrics.limitsReached.with({ limit: "handler-failed" }).value).to.equal(1);
    });
  }

  it("a request whose client left while a filter waited is not sent upstream", async () => {
    let release: (() => void) | undefined;
    const waiting = new Promise<undefined>((resolve) => (release = () => resolve(undefined)));
    const bench = createBench({ filters: [{ slug: "one", onRequest: () => waiting }] });
    bench.request().onClose?.("client-closed");
    release?.();
    await waiting;
    await Promise.resolve();
    expect(bench.upstream.sent).to.have.length(0);
    expect(bench.records).to.have.length(1);
  });

  it("a streamed body that crosses the limit of a filter is answered 413", () => {
    const bench = createBench({
      filters: [{ slug: "limit", onRequest: (exchange) => void (exchange.maxBodyBytes = 4) }],
    });
    const body = new FakeBody();
    const client = bench.request({ method: "POST" }, body);
    bench.upstream.readBody();
    expect(body.sink?.onData("abcd")).to.equal(true);
    expect(body.sink?.onData("e")).to.equal(false);
    expect(client.head?.status).to.equal(413);
  });

  it("a filter changes the response head and transforms the body", () => {
    const bench = createBench({
      filters: [
        {
          slug: "shout",
          onResponse: (_exchange, head) => head.headers.append("X-Seen", "1"),
          transformBody: (_exchange, _head, ends) => ({
            onData: (chunk) => ends.client.onData(chunk.toString().toUpperCase()),
            onEnd: (trailers) => ends.client.onEnd(trailers),
            onAbort: (reason) => ends.client.onAbort(reason),
            resume: () => ends.upstream.resume(),
            cancel: () => {},
          }),
        },
      ],
    });
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
    handler.onData("abc");
    handler.onEnd(undefined);
    expect(client.head?.headers).to.deep.equal(["X-Seen", "1"]);
    expect(client.text).to.equal("ABC");
    expect(client.ended).to.equal(true);
  });

  describe("with a transformation between upstream and client", () => {
    const transformed = () => {
      const calls: string[] = [];
      let ends: BodyEnds | undefined;
      const bench = createBench({
        filters: [
          {
            slug: "hold",
            transformBody: (_exchange, _head, given) => {
              ends = given;
              return {
                onData: () => calls.push("data") === 0,
                onEnd: () => calls.push("end"),
                onAbort: () => calls.push("abort"),
                resume: () => calls.push("resume"),
                cancel: () => calls.push("cancel"),
              };
            },
          },
        ],
      });
      const client = bench.request();
      const { handler } = bench.upstream.last;
      handler.onHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
      return { bench, client, handler, calls, ends: ends as BodyEnds };
    };

    it("a transformation pauses the upstream, and each side resumes its own neighbour", () => {
      const { bench, client, handler, calls, ends } = transformed();
      expect(handler.onData("abc")).to.equal(false);
      expect(handler.pendingBytes).to.equal(undefined);
      client.onDrain?.();
      expect(calls).to.deep.equal(["data", "resume"]);
      expect(bench.upstream.resumed).to.equal(0);
      ends.upstream.resume();
      expect(bench.upstream.resumed).to.equal(1);
    });

    it("the exchange ends when the transformation has ended, not when the upstream has", () => {
      const { bench, client, handler, ends } = transformed();
      handler.onEnd(["x-sum", "1"]);
      expect([client.ended, bench.records.length]).to.deep.equal([false, 0]);
      ends.client.onData("all");
      ends.client.onEnd(["x-sum", "1"]);
      expect([client.text, client.trailers, bench.records.length]).to.deep.equal(["all", ["x-sum", "1"], 1]);
    });

    it("a transformation is freed when the client leaves, when the upstream fails, and when it fails itself", () => {
      const left = transformed();
      left.client.onClose?.("client-closed");
      expect(left.calls).to.deep.equal(["cancel"]);
      const failed = transformed();
      failed.handler.onError({ kind: "reset", text: "upstream reset", requestSent: true });
      expect([failed.calls, failed.client.aborted]).to.deep.equal([["cancel"], true]);
      const broken = transformed();
      broken.ends.client.onAbort("malformed");
      expect([broken.calls, broken.client.aborted, broken.bench.upstream.aborted]).to.deep.equal([
        ["cancel"],
        true,
        1,
      ]);
      expect(broken.bench.records[0]?.error).to.equal("response transformation failed");
    });
  });

  it("the upstream is asked to upgrade to websocket only, and a 101 that the client cannot take is destroyed", () => {
    const bench = createBench();
    const upgrade = (token: string) =>
      bench.request({ headers: Fields.of(["Host", "a", "Connection", "upgrade", "Upgrade", token]) });
    upgrade("h2c");
    expect(bench.upstream.last.request.upgrade).to.equal(undefined);
    const client = upgrade("websocket");
    const { request, handler } = bench.upstream.last;
    expect(request.upgrade).to.equal("websocket");
    const socket = new PassThrough();
    handler.onUpgrade(Fields.of([]), { transport: new SocketTransport(socket), head: Buffer.alloc(0) });
    expect(socket.destroyed).to.equal(true);
    expect(client.head?.status).to.equal(502);
  });
});
