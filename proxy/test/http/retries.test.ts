import { expect } from "chai";
import type { Retry } from "@svc-gateway/common/features/retry.ts";
import { Fields } from "../../src/message/fields.ts";
import type { RequestHead, ResponseHead } from "../../src/message/message.ts";
import type { UpstreamErrorKind } from "../../src/upstream/upstream-errors.ts";
import { createBench, FakeBody } from "./fakes.ts";
import {
  addresses,
  answer,
  benchWith,
  connectFailures,
  fail,
  head,
  post,
  retriesOf,
  take,
  turn,
} from "./retry-bench.ts";

describe("retries: which failures", () => {
  for (const [kind, condition] of connectFailures) {
    it(`a request that failed with ${kind} is retried for every method, on another endpoint, without any code`, async () => {
      const bench = benchWith({ codes: [] });
      const client = bench.request({ method: "POST" });
      await fail(bench, kind);
      expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:2"]);
      expect(client.head).to.equal(undefined);
      await answer(bench, head(200));
      expect(client.head?.status).to.equal(200);
      bench.upstream.last.handler.onEnd(undefined);
      expect(retriesOf(bench, condition)).to.equal(1);
      expect(bench.records[0]).to.deep.include({
        status: 200,
        attempts: 2,
        upstreamAddr: "127.0.0.1:2",
      });
      expect(bench.records[0]).not.to.have.property("error");
    });
  }

  it("a request is sent attempts + 1 times at most, and the last failure is answered", async () => {
    const bench = benchWith();
    const client = bench.request();
    for (let attempt = 0; attempt < 3; attempt++) await fail(bench, "refused");
    expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
    expect(client.head?.status).to.equal(502);
    expect(retriesOf(bench, "connect-failure")).to.equal(2);
    expect(bench.records[0]).to.deep.include({ status: 502, attempts: 3, error: "some refused" });
  });

  it("a retried request is counted once, over the connection of the last attempt that got one", async () => {
    const bench = benchWith();
    const counted = (): readonly number[] =>
      ["new", "reused"].map((state) => bench.metrics.upstreamConnections.with({ state }).value);
    bench.request();
    bench.upstream.last.handler.onConnection(false);
    await answer(bench, head(503));
    bench.upstream.last.handler.onConnection(true);
    await answer(bench, head(503));
    await fail(bench, "refused");
    expect(bench.records[0]).to.deep.include({ attempts: 3 });
    expect(counted()).to.deep.equal([0, 1]);
    bench.request();
    for (let attempt = 0; attempt < 3; attempt++) await fail(bench, "refused");
    expect(counted(), "no connection at all").to.deep.equal([0, 1]);
  });

  it("a retry uses the same endpoint again when there is no other", async () => {
    const bench = benchWith({}, 1);
    bench.request();
    await fail(bench, "refused");
    expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:1"]);
  });

  it("a reset is retried only for idempotent methods, unless the upstream cannot have seen the request", async () => {
    const counts: Record<string, number> = {};
    for (const method of ["GET", "PUT", "DELETE", "POST", "PATCH"]) {
      const bench = benchWith({ codes: [] });
      bench.request({ method });
      await fail(bench, "reset");
      counts[method] = bench.upstream.sent.length;
    }
    expect(counts).to.deep.equal({ GET: 2, PUT: 2, DELETE: 2, POST: 1, PATCH: 1 });
    const unseen = benchWith();
    unseen.request({ method: "POST" });
    await fail(unseen, "reset", false);
    expect(unseen.upstream.sent).to.have.length(2);
  });

  for (const [method, codes, attempts] of [
    ["GET", [502], 2],
    ["GET", [503], 1],
    ["POST", [502], 1],
  ] as const) {
    it(`a response to a ${method} that breaks the protocol is ${attempts === 1 ? "not retried" : "retried as a 502"} with the code ${codes[0]}`, async () => {
      const bench = benchWith({ attempts: 1, codes: [...codes] });
      const client = bench.request({ method });
      await fail(bench, "invalid");
      if (attempts === 2) await fail(bench, "invalid");
      expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([attempts, 502]);
      expect(retriesOf(bench, "5xx")).to.equal(attempts - 1);
    });
  }

  it("the listed codes are retried for every method, and other codes are relayed", async () => {
    const bench = benchWith({ codes: [429, 503] });
    const client = bench.request({ method: "POST" });
    await answer(bench, head(503, { headers: Fields.of(["X-Who", "1"]) }));
    await answer(bench, head(429));
    await answer(bench, head(500, { headers: Fields.of(["X-Who", "3"]) }));
    expect(client.head).to.deep.include({ status: 500, headers: ["X-Who", "3"] });
    expect([retriesOf(bench, "5xx"), retriesOf(bench, "http-code")]).to.deep.equal([1, 1]);
  });

  it("the last response is relayed with its body when attempts are used up", async () => {
    const bench = benchWith({ attempts: 1 });
    const client = bench.request();
    await answer(bench, head(503));
    await answer(bench, head(503));
    bench.upstream.last.handler.onData("sorry");
    bench.upstream.last.handler.onEnd(undefined);
    expect([client.head?.status, client.text, client.ended]).to.deep.equal([503, "sorry", true]);
    expect(bench.records[0]).to.deep.include({ status: 503, attempts: 2 });
  });

  it("a response that is given up is aborted and leaves no trace, even when more of it arrives", async () => {
    const bench = benchWith();
    const client = bench.request();
    const first = bench.upstream.last.handler;
    first.onHead(head(503, { headers: Fields.of(["X-First", "1"]) }));
    expect(first.onData("old")).to.equal(true);
    await turn();
    expect(bench.upstream.aborted).to.equal(1);
    first.onInformational(103, []);
    first.onEnd(undefined);
    first.onError({ kind: "reset", text: "late", requestSent: true });
    await answer(bench, head(200));
    bench.upstream.last.handler.onData("new");
    bench.upstream.last.handler.onEnd(undefined);
    expect([client.text, client.head?.headers, client.informational]).to.deep.equal(["new", [], []]);
    expect(bench.upstream.sent).to.have.length(2);
  });

  it("gRPC statuses of trailers-only responses to gRPC requests are retried", async () => {
    const status = (code: string, length: number | undefined): ResponseHead =>
      head(200, { headers: Fields.of(["grpc-status", code]), length });
    const grpc = { headers: Fields.of(["Host", "a", "content-type", "application/grpc"]) };
    const sent = async (given: Partial<RequestHead>, response: ResponseHead): Promise<number> => {
      const bench = benchWith({ codes: [], grpcCodes: [14] });
      bench.request({ method: "POST", ...given });
      await answer(bench, response);
      expect(retriesOf(bench, "grpc-code")).to.equal(bench.upstream.sent.length - 1);
      return bench.upstream.sent.length;
    };
    expect(await sent(grpc, status("14", 0))).to.equal(2);
    expect(await sent(grpc, status("13", 0))).to.equal(1);
    expect(await sent(grpc, status("14", undefined))).to.equal(1);
    expect(await sent({}, status("14", 0))).to.equal(1);
    expect(await sent(grpc, head(200, { length: 0 }))).to.equal(1);
  });
});

describe("retries: what the client has seen", () => {
  it("a request is not retried after its response has begun", async () => {
    const bench = benchWith();
    const client = bench.request();
    await answer(bench, head(200));
    await fail(bench, "reset");
    expect([bench.upstream.sent.length, client.aborted]).to.deep.equal([1, true]);
  });

  it("a request is not retried after an informational head was relayed, except for 100", async () => {
    const hinted = benchWith();
    hinted.request();
    hinted.upstream.last.handler.onInformational(103, []);
    await fail(hinted, "reset");
    expect(hinted.upstream.sent).to.have.length(1);
    const continued = benchWith();
    const client = continued.request(
      { method: "PUT", headers: Fields.of(["Host", "a", "Expect", "100-continue"]) },
      new FakeBody(2),
    );
    continued.upstream.last.handler.onInformational(100, []);
    take(continued);
    const body = client.body;
    body?.sink?.onData("hi");
    body?.sink?.onEnd(undefined);
    await answer(continued, head(503));
    expect(continued.upstream.last.request.expectContinue).to.equal(false);
    expect(take(continued).text).to.equal("hi");
    expect(client.informational.map(([status]) => status)).to.deep.equal([100]);
  });

  it("a request of a client that has left is not retried", async () => {
    const bench = benchWith();
    const client = bench.request();
    bench.upstream.last.handler.onError({ kind: "refused", text: "x", requestSent: false });
    client.onClose?.("client-closed");
    await turn();
    expect(bench.upstream.sent).to.have.length(1);
    expect(bench.records.map(({ status }) => status)).to.deep.equal([499]);
  });
});

describe("retries: off", () => {
  it("a route without the feature sends a request once and keeps no body", async () => {
    const bench = createBench({ endpoints: 2 });
    const client = post(bench, ["hello"]);
    await answer(bench, head(503));
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 503]);
  });
});

describe("retries of a plan with conditions", () => {
  const conditions = ["error", "timeout"] as const;

  it("only the failures that a plan names are followed by another attempt", async () => {
    const tries = async (kind: UpstreamErrorKind, named: Retry["conditions"]): Promise<number> => {
      const bench = benchWith({ codes: [], conditions: named });
      bench.request();
      await fail(bench, kind);
      return bench.upstream.sent.length;
    };
    for (const kind of ["refused", "connect", "tls", "reset"] as const) {
      expect([
        await tries(kind, ["error"]),
        await tries(kind, ["timeout", "invalid-response"]),
      ]).to.deep.equal([2, 1]);
    }
    expect([
      await tries("connect-timeout", ["timeout"]),
      await tries("connect-timeout", ["error"]),
    ]).to.deep.equal([2, 1]);
    expect([await tries("invalid", ["invalid-response"]), await tries("invalid", ["error"])]).to.deep.equal([
      2, 1,
    ]);
    expect(await tries("own-port", ["error", "timeout", "invalid-response"])).to.equal(1);
  });

  it("a POST, LOCK or PATCH that was sent is not repeated unless the plan says every method", async () => {
    const tries = async (method: string, everyMethod?: true): Promise<readonly number[]> => {
      const retry = { codes: [503], conditions: [...conditions], ...(everyMethod && { everyMethod }) };
      const lost = benchWith(retry);
      lost.request({ method });
      await fail(lost, "reset");
      const answered = benchWith(retry);
      answered.request({ method });
      await answer(answered, head(503));
      const unsent = benchWith(retry);
      unsent.request({ method });
      await fail(unsent, "refused");
      return [lost, answered, unsent].map(({ upstream }) => upstream.sent.length);
    };
    for (const method of ["POST", "LOCK", "PATCH"]) {
      expect(await tries(method)).to.deep.equal([1, 1, 2]);
      expect(await tries(method, true)).to.deep.equal([2, 2, 2]);
    }
    for (const method of ["GET", "DELETE", "PROPFIND"]) expect(await tries(method)).to.deep.equal([2, 2, 2]);
  });

  it("no attempt begins after the time of the plan is over", async () => {
    const bench = benchWith({ codes: [], conditions: [...conditions], withinMs: 0.000_001 });
    bench.request();
    await fail(bench, "refused");
    expect(bench.upstream.sent.length).to.equal(1);
  });

  it("a backoff that would end after the time of the plan is not begun", async () => {
    const bench = benchWith({ codes: [], backoffMs: 120_000, withinMs: 60_000 });
    const client = bench.request();
    await fail(bench, "refused");
    expect(client.head?.status).to.equal(502);
  });
});
