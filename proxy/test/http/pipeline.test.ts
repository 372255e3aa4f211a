import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import type { BodyEnds, Filter } from "../../src/filters/filter.ts";
import type { RequestHead } from "../../src/http/message.ts";
import type { UpstreamErrorKind } from "../../src/upstream/upstream.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import { createBench, FakeBody } from "./fakes.ts";
import { awake } from "../../src/timing/awake-clock.ts";

const fieldOf = (headers: readonly string[], name: string): string | undefined => {
  const index = headers.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
  return index < 0 ? undefined : headers[index + 1];
};

describe("pipeline: answers without an upstream", () => {
  const vias = Array.from({ length: 10 }, () => ["Via", "1.1 svc"]).flat();
  const cases: readonly [string, Partial<RequestHead>, number][] = [
    ["no Host", { headers: [] }, 400],
    ["TRACE", { method: "TRACE" }, 405],
    ["OPTIONS *", { method: "OPTIONS", target: "*" }, 204],
    ["an unknown expectation", { headers: ["Host", "a", "Expect", "202-later"] }, 417],
    ["ten passes through this proxy", { headers: ["Host", "a", ...vias] }, 508],
    ["a NUL in the path", { target: "/a%00" }, 400],
    ["no route", { target: "/b" }, 404],
  ];
  for (const [name, given, status] of cases) {
    it(`${status} for ${name}`, () => {
      const bench = createBench();
      const client = bench.request(given);
      expect(client.head?.status).to.equal(status);
      expect(client.ended).to.equal(true);
      expect(bench.upstream.sent).to.have.length(0);
      expect(bench.records.map((record) => record.status)).to.deep.equal([status]);
      expect(bench.active.size).to.equal(0);
    });
  }

  it("421 for a host of another listener than the connection's", () => {
    const statusOver = (serverName: string): number | undefined =>
      createBench({ serverName }).request({ target: "/b" }).head?.status;
    expect(statusOver("other")).to.equal(421);
    expect(statusOver("of-this-listener")).to.equal(404);
    expect(statusOver("")).to.equal(404);
  });

  it("says code and reason in plain text that nobody stores", () => {
    const { head, text } = createBench().request({ target: "/b" });
    expect(text).to.equal("404 Not Found\n");
    expect(fieldOf(head?.headers ?? [], "content-type")).to.equal("text/plain");
    expect(fieldOf(head?.headers ?? [], "cache-control")).to.equal("no-store");
    expect(fieldOf(head?.headers ?? [], "content-length")).to.equal("14");
  });

  it("sends no body in answer to HEAD", () => {
    const client = createBench().request({ target: "/b", method: "HEAD" });
    expect(client.text).to.equal("");
    expect(client.head?.bodyless).to.equal(true);
  });

  it("speaks gRPC to gRPC clients and logs the unmapped code", () => {
    const bench = createBench();
    const headers = ["content-type", "application/grpc"];
    const client = bench.request({ version: "2.0", authority: "a", target: "/b", headers });
    expect(client.head?.status).to.equal(200);
    expect(fieldOf(client.head?.headers ?? [], "grpc-status")).to.equal("12");
    expect(client.text).to.equal("");
    expect(bench.records[0]?.status).to.equal(404);
  });

  it("503 without endpoints, and the status of a broken backend", () => {
    expect(createBench({ endpoints: 0 }).request().head?.status).to.equal(503);
    expect(createBench({ backend: { kind: "status", status: 500 } }).request().head?.status).to.equal(500);
  });
});

describe("pipeline: the choice of an endpoint", () => {
  const selecting = (setCookie: string | undefined) => {
    const told: string[] = [];
    const endpoint = { host: "127.0.0.1", port: 1, address: "127.0.0.1:1" };
    const watch = {
      responded: (status: number) => void told.push(`responded ${status}`),
      failed: () => void told.push("failed"),
      ended: () => void told.push("ended"),
    };
    const retryBudget = new RetryBudget(0);
    const protocol = "http1" as const;
    const upstream = { key: "ns/web/80", service: "ns/web", protocol, retryBudget, endpoints: [endpoint] };
    const pick = () => ({ endpoint, watch, setCookie });
    return {
      told,
      ...createBench({ backend: { kind: "upstream", filters: [], upstream: { ...upstream, pick } } }),
    };
  };

  it("gives the client its session cookie with the answer of the endpoint, not with our own", () => {
    const bench = selecting("sid=1; Path=/; HttpOnly");
    const answered = bench.request();
    bench.upstream.last.handler.onHead({ status: 200, headers: ["X-A", "1"], length: 0, bodyless: true });
    expect(answered.head?.headers).to.deep.equal(["X-A", "1", "Set-Cookie", "sid=1; Path=/; HttpOnly"]);
    const failed = bench.request();
    bench.upstream.last.handler.onError({ kind: "refused", text: "connection refused", requestSent: false });
    expect(fieldOf(failed.head?.headers ?? [], "set-cookie")).to.equal(undefined);
    expect(bench.told).to.deep.equal(["responded 200", "failed", "ended"]);
  });

  it("holds a missing answer against the endpoint, not a client that leaves", () => {
    const bench = selecting(undefined);
    bench.request();
    bench.active.sweep(performance.now() + 60_000);
    expect(bench.told.splice(0)).to.deep.equal(["failed", "ended"]);
    const client = bench.request();
    client.onClose?.("client-closed");
    expect(bench.told.splice(0)).to.deep.equal(["ended"]);
    bench.request({ method: "POST" }, new FakeBody());
    bench.active.sweep(performance.now() + 60_000);
    expect(bench.told).to.deep.equal(["ended"]);
  });

  it("says 503 when no breaker lets a request through", () => {
    const retryBudget = new RetryBudget(0);
    const upstream = { key: "ns/web/80", service: "ns/web", protocol: "http1" as const, retryBudget };
    const endpoints = [{ host: "127.0.0.1", port: 1, address: "127.0.0.1:1" }];
    const bench = createBench({
      backend: { kind: "upstream", filters: [], upstream: { ...upstream, endpoints, pick: () => undefined } },
    });
    expect(bench.request().head?.status).to.equal(503);
    expect(bench.records[0]?.error).to.equal("circuit breaker open");
  });
});

describe("pipeline: forwarding", () => {
  it("sends the normalised path, the query untouched, Host apart and our forwarding fields", () => {
    const bench = createBench();
    bench.request({
      target: "/a/./b/../%7Ec?q=%7E",
      headers: ["Host", "A.example:80", "X-Real-IP", "forged"],
    });
    const { request, endpoint } = bench.upstream.last;
    expect(endpoint.address).to.equal("127.0.0.1:1");
    expect(request.target).to.equal("/a/~c?q=%7E");
    expect(request.authority).to.equal("A.example:80");
    expect(fieldOf(request.headers, "host")).to.equal(undefined);
    expect(fieldOf(request.headers, "x-real-ip")).to.equal("192.0.2.7");
    expect(fieldOf(request.headers, "via")).to.equal("1.1 svc");
  });

  it("relays head, body and safe trailers, then counts and logs once", () => {
    const bench = createBench();
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onConnection(false);
    handler.onHead({ status: 201, headers: ["X-A", "1"], length: undefined, bodyless: false });
    handler.onData("hel");
    handler.onData(Buffer.from("lo"));
    handler.onEnd(["X-T", "1", "Transfer-Encoding", "chunked", "Host", "x"]);
    expect(client.head).to.deep.include({ status: 201, headers: ["X-A", "1"] });
    expect(client.text).to.equal("hello");
    expect(client.trailers).to.deep.equal(["X-T", "1"]);
    expect(bench.records).to.have.length(1);
    expect(bench.records[0]).to.deep.include({ status: 201, bytesSent: 5, upstream: "ns/web", attempts: 1 });
    expect(bench.metrics.upstreamConnections.with({ state: "new" }).value).to.equal(1);
  });

  it("counts for the route and its listener, but not for a route that goes before the response has come", async () => {
    const bench = createBench();
    const id = "ingress/ns/web:0.0";
    const countOf = async (): Promise<number> =>
      (await bench.metrics.expose()).body
        .split("\n")
        .filter((line) => line.includes(`listener="80",route="${id}"`)).length;
    const answer = (): void => {
      const { handler } = bench.upstream.last;
      handler.onHead({ status: 200, headers: [], length: 0, bodyless: true });
      handler.onEnd(undefined);
    };
    bench.request();
    bench.metrics.retainRoutes(() => false);
    answer();
    expect(await countOf()).to.equal(0);
    bench.request();
    answer();
    expect(await countOf()).to.be.greaterThan(0);
  });

  it("passes pause and resume on in both directions", () => {
    const bench = createBench();
    const body = new FakeBody();
    const client = bench.request({ method: "POST" }, body);
    client.write = () => false;
    const { handler, request } = bench.upstream.last;
    handler.onHead({ status: 200, headers: [], length: undefined, bodyless: false });
    expect(handler.onData("x")).to.equal(false);
    client.onDrain?.();
    expect(bench.upstream.resumed).to.equal(1);
    request.body?.start({ onData: () => false, onEnd: () => {}, onAbort: () => {} });
    expect(body.sink?.onData("y")).to.equal(false);
    request.body?.resume();
    expect(body.resumed).to.equal(1);
  });

  const failures: readonly [UpstreamErrorKind, number][] = [
    ["refused", 502],
    ["connect", 502],
    ["connect-timeout", 502],
    ["tls", 502],
    ["reset", 502],
    ["invalid", 502],
    ["timeout", 504],
  ];
  for (const [kind, status] of failures) {
    it(`${status} when the upstream fails with ${kind}`, () => {
      const bench = createBench();
      const client = bench.request();
      bench.upstream.last.handler.onError({ kind, text: "some cause", requestSent: true });
      expect(client.head?.status).to.equal(status);
      expect(bench.records[0]).to.deep.include({ status, error: "some cause" });
    });
  }

  it("cuts a response that has begun", () => {
    const bench = createBench();
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onHead({ status: 200, headers: [], length: 10, bodyless: false });
    handler.onError({ kind: "reset", text: "upstream reset", requestSent: true });
    expect(client.aborted).to.equal(true);
    expect(client.ended).to.equal(false);
    expect(bench.records[0]).to.deep.include({ status: 200, error: "upstream reset" });
  });

  it("499 and an aborted upstream when the client leaves", () => {
    const bench = createBench();
    const client = bench.request();
    client.onClose?.("client-closed");
    expect(bench.upstream.aborted).to.equal(1);
    expect(bench.records[0]).to.deep.include({ status: 499, error: "client closed" });
    bench.upstream.last.handler.onHead({ status: 200, headers: [], length: 0, bodyless: true });
    expect(client.head).to.equal(undefined);
    expect(bench.records).to.have.length(1);
  });

  const bodyFailures = [
    ["timeout", 408],
    ["malformed", 400],
  ] as const;
  for (const [reason, status] of bodyFailures) {
    it(`${status} when the request body ends with ${reason}`, () => {
      const bench = createBench();
      const body = new FakeBody();
      const client = bench.request({ method: "POST" }, body);
      const { request, handler } = bench.upstream.last;
      request.body?.start({
        onData: () => true,
        onEnd: () => {},
        onAbort: () => handler.onError({ kind: "request-body", text: "request body", requestSent: true }),
      });
      body.sink?.onAbort(reason);
      expect(client.head?.status).to.equal(status);
      expect(client.closing).to.equal(true);
    });
  }
});

describe("pipeline: Expect, filters, limits, upgrades", () => {
  it("answers 100 itself when the upstream starts the body without one", () => {
    const bench = createBench();
    const client = bench.request(
      { method: "POST", headers: ["Host", "a", "Expect", "100-Continue"] },
      new FakeBody(3),
    );
    const { request } = bench.upstream.last;
    expect(request.expectContinue).to.equal(true);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    expect(client.informational.map(([status]) => status)).to.deep.equal([100]);
  });

  it("asks for no 100 before a body of which nothing comes", () => {
    const bench = createBench();
    const headers = ["Host", "a", "Expect", "100-continue"];
    const client = bench.request({ method: "POST", headers }, new FakeBody(0));
    const { request } = bench.upstream.last;
    expect(request.expectContinue).to.equal(false);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    expect(client.informational).to.deep.equal([]);
  });

  it("relays the upstream's 100 and sends no second one", () => {
    const bench = createBench();
    const headers = ["Host", "a", "Expect", "100-continue"];
    const client = bench.request({ method: "POST", headers }, new FakeBody(3));
    const { request, handler } = bench.upstream.last;
    handler.onInformational(100, []);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    expect(client.informational).to.have.length(1);
  });

  it("stops at the first filter that answers, and waits for one that takes time", async () => {
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
    it(`answers 500 for a bug in a filter ${which}, and counts and logs it`, async () => {
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

  it("does nothing more when the client left while a filter waited", async () => {
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

  it("413 when a streamed body crosses the limit of a filter", () => {
    const bench = createBench({
      filters: [{ slug: "limit", onRequest: (exchange) => void (exchange.maxBodyBytes = 4) }],
    });
    const body = new FakeBody();
    const client = bench.request({ method: "POST" }, body);
    const { request, handler } = bench.upstream.last;
    request.body?.start({
      onData: () => true,
      onEnd: () => {},
      onAbort: () => handler.onError({ kind: "request-body", text: "request body", requestSent: true }),
    });
    expect(body.sink?.onData("abcd")).to.equal(true);
    expect(body.sink?.onData("e")).to.equal(false);
    expect(client.head?.status).to.equal(413);
  });

  it("lets a filter change the response head and transform the body", () => {
    const bench = createBench({
      filters: [
        {
          slug: "shout",
          onResponse: (_exchange, head) => void head.headers.push("X-Seen", "1"),
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
    handler.onHead({ status: 200, headers: [], length: undefined, bodyless: false });
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
      handler.onHead({ status: 200, headers: [], length: undefined, bodyless: false });
      return { bench, client, handler, calls, ends: ends as BodyEnds };
    };

    it("pauses the upstream as the transformation says, and each side wakes its own neighbour", () => {
      const { bench, client, handler, calls, ends } = transformed();
      expect(handler.onData("abc")).to.equal(false);
      expect(handler.pendingBytes).to.equal(undefined);
      client.onDrain?.();
      expect(calls).to.deep.equal(["data", "resume"]);
      expect(bench.upstream.resumed).to.equal(0);
      ends.upstream.resume();
      expect(bench.upstream.resumed).to.equal(1);
    });

    it("ends the exchange when the transformation has ended, not when the upstream has", () => {
      const { bench, client, handler, ends } = transformed();
      handler.onEnd(["x-sum", "1"]);
      expect([client.ended, bench.records.length]).to.deep.equal([false, 0]);
      ends.client.onData("all");
      ends.client.onEnd(["x-sum", "1"]);
      expect([client.text, client.trailers, bench.records.length]).to.deep.equal(["all", ["x-sum", "1"], 1]);
    });

    it("frees it when the client leaves, when the upstream fails, and when it fails itself", () => {
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

  it("asks upstream for websocket only, and destroys a 101 that the client cannot take", () => {
    const bench = createBench();
    const upgrade = (token: string) =>
      bench.request({ headers: ["Host", "a", "Connection", "upgrade", "Upgrade", token] });
    upgrade("h2c");
    expect(bench.upstream.last.request.upgrade).to.equal(undefined);
    const client = upgrade("websocket");
    const { request, handler } = bench.upstream.last;
    expect(request.upgrade).to.equal("websocket");
    const socket = new PassThrough();
    handler.onUpgrade([], socket, Buffer.alloc(0));
    expect(socket.destroyed).to.equal(true);
    expect(client.head?.status).to.equal(502);
  });

  it("504 for what is idle or takes too long", () => {
    const bench = createBench();
    const idle = bench.request();
    bench.active.sweep(awake.nowMs + 999);
    expect(idle.head).to.equal(undefined);
    bench.active.sweep(awake.nowMs + 1_001);
    expect(idle.head?.status).to.equal(504);
    expect(bench.upstream.aborted).to.equal(1);
    expect(bench.active.size).to.equal(0);
  });
});
