import { mock } from "node:test";
import type { Retry } from "@svc-gateway/common/features/retry.ts";
import { expect } from "chai";
import { retryFilter } from "../../src/filters/retry.ts";
import { timeoutsFilter } from "../../src/filters/timeouts.ts";
import type { RequestHead, ResponseHead } from "../../src/http/message.ts";
import type { UpstreamErrorKind } from "../../src/upstream/upstream.ts";
import { createBench, FakeBody, type FakeClient } from "./fakes.ts";

type Bench = ReturnType<typeof createBench>;

const plan: Retry = { attempts: 2, codes: [502, 503, 504] };
const benchWith = (retry: Partial<Retry> = {}, endpoints = 3): Bench =>
  createBench({ filters: [retryFilter({ ...plan, ...retry })], endpoints });

const head = (status: number, rest: Partial<ResponseHead> = {}): ResponseHead => ({
  status,
  headers: [],
  length: undefined,
  bodyless: false,
  ...rest,
});

/** Lets what was put off to the end of the turn happen. */
const turn = (): Promise<void> => new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));

async function fail(
  { upstream }: Bench,
  kind: UpstreamErrorKind,
  requestSent = kind === "reset" || kind === "invalid",
): Promise<void> {
  upstream.last.handler.onError({ kind, text: `some ${kind}`, requestSent });
  await turn();
}

async function answer({ upstream }: Bench, given: ResponseHead): Promise<void> {
  upstream.last.handler.onHead(given);
  await turn();
}

const retriesOf = ({ metrics }: Bench, condition: string): number =>
  metrics.upstreamRetries.with({
    listener: "80",
    route: "ingress/ns/web:0.0",
    upstream: "ns/web",
    condition,
  }).value;

const addresses = ({ upstream }: Bench): readonly string[] =>
  upstream.sent.map(({ endpoint }) => endpoint.address);

/** Sends a request whose body arrives as these pieces and then ends. */
function post(bench: Bench, pieces: readonly string[], given: Partial<RequestHead> = {}): FakeClient {
  const body = new FakeBody();
  const client = bench.request({ method: "POST", ...given }, body);
  take(bench);
  for (const piece of pieces) body.sink?.onData(Buffer.from(piece));
  body.sink?.onEnd(["X-Sum", "1"]);
  return client;
}

/** Takes the body of the last attempt as an upstream does; the answer grows as it arrives. */
function take({ upstream }: Bench): {
  text: string;
  trailers: readonly string[] | undefined;
  ended: boolean;
} {
  const got = { text: "", trailers: undefined as readonly string[] | undefined, ended: false };
  upstream.last.request.body?.start({
    onData: (chunk) => ((got.text += chunk.toString()), true),
    onEnd(trailers) {
      got.trailers = trailers;
      got.ended = true;
    },
    onAbort: () => {},
  });
  return got;
}

const connectFailures = [
  ["refused", "connect-failure"],
  ["connect", "connect-failure"],
  ["tls", "connect-failure"],
  ["connect-timeout", "timeout"],
] as const;

describe("retries: which failures", () => {
  for (const [kind, condition] of connectFailures) {
    it(`${kind}: for every method, on an endpoint that was not tried, without any code`, async () => {
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

  it("at most attempts + 1 in all, and the last failure is the answer", async () => {
    const bench = benchWith();
    const client = bench.request();
    for (let attempt = 0; attempt < 3; attempt++) await fail(bench, "refused");
    expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
    expect(client.head?.status).to.equal(502);
    expect(retriesOf(bench, "connect-failure")).to.equal(2);
    expect(bench.records[0]).to.deep.include({ status: 502, attempts: 3, error: "some refused" });
  });

  it("counted as one request, over the connection of the last attempt that got one", async () => {
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

  it("tried endpoints again when there is no other", async () => {
    const bench = benchWith({}, 1);
    bench.request();
    await fail(bench, "refused");
    expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:1"]);
  });

  it("resets only for idempotent methods, unless the upstream cannot have seen the request", async () => {
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

  it("never a response that breaks the protocol", async () => {
    const bench = benchWith();
    const client = bench.request();
    await fail(bench, "invalid");
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 502]);
  });

  it("the listed codes, for every method; other codes pass through", async () => {
    const bench = benchWith({ codes: [429, 503] });
    const client = bench.request({ method: "POST" });
    await answer(bench, head(503, { headers: ["X-Who", "1"] }));
    await answer(bench, head(429));
    await answer(bench, head(500, { headers: ["X-Who", "3"] }));
    expect(client.head).to.deep.include({ status: 500, headers: ["X-Who", "3"] });
    expect([retriesOf(bench, "5xx"), retriesOf(bench, "http-code")]).to.deep.equal([1, 1]);
  });

  it("passes the last response through, body and all, when attempts are used up", async () => {
    const bench = benchWith({ attempts: 1 });
    const client = bench.request();
    await answer(bench, head(503));
    await answer(bench, head(503));
    bench.upstream.last.handler.onData("sorry");
    bench.upstream.last.handler.onEnd(undefined);
    expect([client.head?.status, client.text, client.ended]).to.deep.equal([503, "sorry", true]);
    expect(bench.records[0]).to.deep.include({ status: 503, attempts: 2 });
  });

  it("a response that is given up is aborted and leaves no trace, whatever still comes of it", async () => {
    const bench = benchWith();
    const client = bench.request();
    const first = bench.upstream.last.handler;
    first.onHead(head(503, { headers: ["X-First", "1"] }));
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

  it("gRPC statuses of trailers-only responses to gRPC requests", async () => {
    const status = (code: string, length: number | undefined): ResponseHead =>
      head(200, { headers: ["grpc-status", code], length });
    const grpc = { headers: ["Host", "a", "content-type", "application/grpc"] };
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
  it("nothing after a response has begun", async () => {
    const bench = benchWith();
    const client = bench.request();
    await answer(bench, head(200));
    await fail(bench, "reset");
    expect([bench.upstream.sent.length, client.aborted]).to.deep.equal([1, true]);
  });

  it("nothing after an informational head was relayed, save 100", async () => {
    const hinted = benchWith();
    hinted.request();
    hinted.upstream.last.handler.onInformational(103, []);
    await fail(hinted, "reset");
    expect(hinted.upstream.sent).to.have.length(1);
    const continued = benchWith();
    const client = continued.request(
      { method: "PUT", headers: ["Host", "a", "Expect", "100-continue"] },
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

  it("nothing for a client that has left", async () => {
    const bench = benchWith();
    const client = bench.request();
    bench.upstream.last.handler.onError({ kind: "refused", text: "x", requestSent: false });
    client.onClose?.("client-closed");
    await turn();
    expect(bench.upstream.sent).to.have.length(1);
    expect(bench.records.map(({ status }) => status)).to.deep.equal([499]);
  });
});

describe("retries: the request body", () => {
  it("is sent again as it was, with its trailers", async () => {
    const bench = benchWith();
    post(bench, ["hello ", "world"]);
    await answer(bench, head(503));
    expect(bench.upstream.last.request.body?.started).to.equal(false);
    expect(take(bench)).to.deep.equal({ text: "hello world", trailers: ["X-Sum", "1"], ended: true });
    await answer(bench, head(503));
    expect(take(bench).text).to.equal("hello world");
  });

  it("holds its end back until a full upstream resumes", async () => {
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

  it("that is larger than the buffer lets the response through, also when its length was declared", async () => {
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

  it("that fills the buffer to its last byte is kept", async () => {
    const bench = benchWith();
    post(bench, ["0123456789", "012345"]);
    await answer(bench, head(503));
    expect(take(bench).text).to.equal("0123456789012345");
  });

  it("that has arrived in part lets the response through", async () => {
    const bench = benchWith();
    const body = new FakeBody();
    const client = bench.request({ method: "POST" }, body);
    take(bench);
    body.sink?.onData("half");
    await answer(bench, head(503));
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 503]);
  });

  it("of any size is kept for a connect that failed, because nothing of it was read", async () => {
    const bench = benchWith();
    const body = new FakeBody(1_000_000);
    bench.request({ method: "POST" }, body);
    await fail(bench, "refused");
    const got = take(bench);
    body.sink?.onData("x".repeat(100));
    expect(got.text).to.have.length(100);
  });

  it("that the client breaks off is not sent again", async () => {
    const bench = benchWith();
    const body = new FakeBody();
    const client = bench.request({ method: "PUT" }, body);
    const { request, handler } = bench.upstream.last;
    request.body?.start({
      onData: () => true,
      onEnd: () => {},
      onAbort: () => handler.onError({ kind: "request-body", text: "request body", requestSent: true }),
    });
    body.sink?.onAbort("malformed");
    await turn();
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 400]);
  });
});

describe("retries: time and budget", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
  afterEach(() => mock.timers.reset());

  it("waits at least the backoff, at most half as long again", async () => {
    const bench = benchWith({ backoffMs: 100 });
    bench.request();
    await fail(bench, "refused");
    mock.timers.tick(99);
    expect(bench.upstream.sent).to.have.length(1);
    mock.timers.tick(51);
    expect(bench.upstream.sent).to.have.length(2);
  });

  it("ends the wait when the client leaves, or when the time of the request is over", async () => {
    for (const status of [499, 504]) {
      const bench = benchWith({ backoffMs: 100 });
      const client = bench.request();
      await fail(bench, "refused");
      if (status === 499) client.onClose?.("client-closed");
      else bench.active.sweep(performance.now() + 6_000);
      mock.timers.tick(1000);
      expect(bench.upstream.sent).to.have.length(1);
      expect(bench.records.map((record) => record.status)).to.deep.equal([status]);
    }
  });

  it("takes a response timeout for a 504, for idempotent methods", async () => {
    const timedOut = async (method: string, codes: number[]): Promise<Bench> => {
      const bench = createBench({
        filters: [timeoutsFilter({ readTimeoutMs: 50 }), retryFilter({ ...plan, codes })],
        endpoints: 2,
      });
      bench.request({ method });
      bench.upstream.last.handler.onConnection(false);
      mock.timers.tick(50);
      await turn();
      return bench;
    };
    const retried = await timedOut("GET", [504]);
    expect(retried.upstream.sent).to.have.length(2);
    expect([retriesOf(retried, "timeout"), retried.upstream.aborted]).to.deep.equal([1, 1]);
    for (const [method, codes] of [
      ["POST", [504]],
      ["GET", [503]],
    ] as const) {
      const given = await timedOut(method, [...codes]);
      expect([given.upstream.sent.length, given.records[0]?.status]).to.deep.equal([1, 504]);
    }
  });

  it("gives up when the budget of the backend is used up, and counts it", async () => {
    const bench = benchWith({ attempts: 10_000 });
    const client = bench.request();
    for (let attempt = 0; attempt < 5_000 && client.head === undefined; attempt++)
      await fail(bench, "refused");
    expect(client.head?.status).to.equal(502);
    expect(bench.upstream.sent.length).to.be.within(100, 1_000);
    expect(bench.metrics.limitsReached.with({ limit: "retry-budget" }).value).to.equal(1);
  });

  for (const [kind] of connectFailures) {
    it(`${kind}: goes to the next endpoint though the budget is used up`, async () => {
      const bench = benchWith();
      bench.request();
      let left = true;
      while (left) left = bench.retryBudget.withdraw(performance.now());
      await fail(bench, kind);
      await fail(bench, kind);
      expect(addresses(bench)).to.deep.equal(["127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"]);
    });
  }

  it("503 when every endpoint is gone by the time of the retry", async () => {
    const bench = benchWith({ backoffMs: 100 }, 1);
    const client = bench.request();
    await fail(bench, "refused");
    bench.endpoints.length = 0;
    mock.timers.tick(150);
    expect(client.head?.status).to.equal(503);
  });
});

describe("retries: off", () => {
  it("a route without the feature tries once and keeps no body", async () => {
    const bench = createBench({ endpoints: 2 });
    const client = post(bench, ["hello"]);
    await answer(bench, head(503));
    expect([bench.upstream.sent.length, client.head?.status]).to.deep.equal([1, 503]);
  });
});
