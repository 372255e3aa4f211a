import { mock } from "node:test";
import type { Exchange } from "../../src/exchange/exchange.ts";
import { expect } from "chai";
import { createAuthStore } from "../../src/auth/auth-store.ts";
import type { Filter } from "../../src/exchange/filter.ts";
import type { FilterEnvironment } from "../../src/filters/environment.ts";
import { mirrorTargetFilter } from "../../src/filters/mirror-target.ts";
import { retryFilter } from "../../src/filters/retry.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import type { Upstream, UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { createBench, FakeBody } from "./fakes.ts";
import { holdClock } from "./held-clock.ts";
import { Fields } from "../../src/message/fields.ts";
import { mockTimers } from "../mock-timers.ts";

const endpoint: UpstreamEndpoint = { host: "127.0.0.9", port: 9, address: "127.0.0.9:9" };

const environmentOf = (endpoints: readonly UpstreamEndpoint[]): FilterEnvironment => ({
  auth: createAuthStore(),
  rates: { counter: () => ({ take: () => 0, giveBack: () => undefined }) },
  concurrency: { enter: () => 0, leave: () => undefined },
  encoders: { take: () => true, free: () => {} },
  upstreamOf: (name, protocol) => (): Upstream => ({
    key: name,
    service: "ns/copy",
    protocol,
    endpoints,
    retryBudget: new RetryBudget(0),
    pick: () =>
      endpoints[0] === undefined
        ? undefined
        : { endpoint: endpoints[0], watch: undefined, setCookie: undefined },
  }),
});

const mirroring = (fraction?: { numerator: number; denominator: number }, endpoints = [endpoint]): Filter =>
  mirrorTargetFilter(
    [{ service: "ns/copy", endpoints: "ns/copy/80", protocol: "http1", fraction }],
    environmentOf(endpoints),
  );

type Bench = ReturnType<typeof createBench>;
const copies = ({ metrics }: Bench): number =>
  metrics.mirrorRequests.with({ route: "ingress/ns/web:0.0", upstream: "ns/copy" }).value;
const head = { status: 200, headers: Fields.of([]), length: undefined, bodyless: false };

describe("mirrors", () => {
  // Failures are logged again after a second, and a timer that is much too late lets arrived data be read first.
  holdClock();

  it("a mirror gets the request as the upstream gets it, without credentials", () => {
    const bench = createBench({ filters: [mirroring()] });
    const secrets = ["Authorization", "Basic x", "cookie", "a=b", "Proxy-Authorization", "y"];
    bench.request({
      method: "PUT",
      target: "/a?b=1",
      headers: Fields.of(["Host", "a.example", "X-A", "1", ...secrets]),
    });
    const { request, endpoint: chosen } = bench.mirrorUpstream.last;
    const original = bench.upstream.last.request;
    expect(chosen).to.equal(endpoint);
    const { headers: copied, ...rest } = request;
    const { headers: sent, ...originalRest } = original;
    expect(rest).to.deep.equal(originalRest);
    const lower = (list: readonly string[]): readonly string[] => list.map((text) => text.toLowerCase());
    expect(lower(sent)).to.include.members(["authorization", "cookie"]);
    expect(lower(copied)).not.to.include.members(["authorization"]);
    expect(lower(copied)).not.to.include.members(["cookie"]);
    expect(lower(copied)).not.to.include.members(["proxy-authorization"]);
    expect(copied).to.include.members(["X-A", "1"]);
    expect(copies(bench)).to.equal(1);
  });

  it("a mirror gets the changes that the backend's filters make", () => {
    const addBackend = ({ headers }: Exchange): undefined => {
      headers.append("X-Backend", "1");
    };
    const bench = createBench({
      filters: [mirroring()],
      backendFilters: [{ slug: "x", onRequest: addBackend }],
    });
    bench.request();
    expect(bench.mirrorUpstream.last.request.headers).to.include("X-Backend");
  });

  it("the response of a mirror is discarded and has an access-log line of its own", () => {
    const bench = createBench({ filters: [mirroring()] });
    const client = bench.request();
    const copy = bench.mirrorUpstream.last.handler;
    copy.onHead({ ...head, status: 500, headers: Fields.of(["X-Mirror", "1"]) });
    expect(copy.onData("mirrored")).to.equal(true);
    copy.onEnd(undefined);
    expect(client.head).to.equal(undefined);
    bench.upstream.last.handler.onHead(head);
    bench.upstream.last.handler.onEnd(undefined);
    expect([client.text, client.head?.headers]).to.deep.equal(["", []]);
    const [copied, original] = bench.records;
    expect(copied).to.deep.include({
      mirror: true,
      status: 500,
      upstream: "ns/copy",
      upstreamAddr: "127.0.0.9:9",
      routeId: "ingress/ns/web:0.0",
      attempts: 1,
    });
    expect(original).to.deep.include({ status: 200, upstream: "ns/web" });
    expect(original).not.to.have.property("mirror");
    expect(bench.log.lines).to.deep.equal([]);
  });

  it("a mirror gets the body as it arrives, never slows it down, and does not start it", () => {
    const bench = createBench({ filters: [mirroring()] });
    const body = new FakeBody(6);
    bench.request({ method: "POST" }, body);
    expect(bench.mirrorUpstream.last.request.body?.length).to.equal(undefined);
    let original = "";
    bench.upstream.last.request.body?.start({
      onData: (chunk) => ((original += chunk.toString()), true),
      onEnd: () => {},
      onAbort: () => {},
    });
    let copied = "";
    let ended = false;
    bench.mirrorUpstream.last.request.body?.start({
      onData: (chunk) => ((copied += chunk.toString()), false),
      onEnd: () => (ended = true),
      onAbort: () => {},
    });
    expect(body.sink?.onData("abc")).to.equal(true);
    expect(body.sink?.onData("def")).to.equal(true);
    body.sink?.onEnd(undefined);
    expect([original, copied, ended]).to.deep.equal(["abcdef", "abc", false]);
    bench.mirrorUpstream.last.request.body?.resume();
    bench.mirrorUpstream.last.request.body?.resume();
    expect([copied, ended]).to.deep.equal(["abcdef", true]);
  });

  it("a copy is aborted without a warning when the original ends without its body", () => {
    const bench = createBench({ filters: [mirroring()] });
    const client = bench.request({ method: "POST" }, new FakeBody());
    const { request, handler } = bench.mirrorUpstream.last;
    request.body?.start({
      onData: () => true,
      onEnd: () => {},
      onAbort: () => handler.onError({ kind: "request-body", text: "client closed", requestSent: true }),
    });
    client.onClose?.("client-closed");
    expect(bench.records.find(({ mirror }) => mirror === true)).to.deep.include({ status: 499 });
    expect(bench.log.lines).to.deep.equal([]);
  });

  it("the share of mirrored requests is drawn for each request", () => {
    const share = { numerator: 1, denominator: 4 };
    const drawn = [0, 0.24, 0.25, 0.99].map((random) => {
      const bench = createBench({ filters: [mirroring(share)], random });
      bench.request();
      return copies(bench);
    });
    expect(drawn).to.deep.equal([1, 1, 0, 0]);
    const none = createBench({ filters: [mirroring({ numerator: 0, denominator: 1 })] });
    none.request();
    expect(copies(none)).to.equal(0);
  });

  it("several mirrors of the route and of the backend each get a copy", () => {
    const bench = createBench({ filters: [mirroring()], backendFilters: [mirroring()] });
    bench.request();
    expect(bench.mirrorUpstream.sent).to.have.length(2);
  });

  it("a mirror gets neither refused requests nor upgrades", () => {
    const refusing: Filter = { slug: "no", onRequest: () => ({ status: 403 }) };
    const refused = createBench({ filters: [mirroring()], backendFilters: [refusing] });
    refused.request();
    const upgraded = createBench({ filters: [mirroring()] });
    upgraded.request({ headers: Fields.of(["Host", "a", "Connection", "upgrade", "Upgrade", "websocket"]) });
    expect([copies(refused), copies(upgraded), upgraded.upstream.sent.length]).to.deep.equal([0, 0, 1]);
  });

  it("a mirror gets one copy of a request that is retried, and a failed copy is not retried", async () => {
    const retries = retryFilter({ attempts: 2, codes: [] });
    const bench = createBench({ filters: [mirroring(), retries], endpoints: 3 });
    bench.request();
    const refused = { kind: "refused", text: "connection refused", requestSent: false } as const;
    bench.upstream.last.handler.onError(refused);
    bench.mirrorUpstream.last.handler.onError(refused);
    await new Promise((resolve) => process.nextTick(() => process.nextTick(resolve)));
    expect([bench.upstream.sent.length, bench.mirrorUpstream.sent.length]).to.deep.equal([2, 1]);
  });

  it("failures of mirrors are logged once a second at most", () => {
    const bench = createBench({ filters: [mirroring()] });
    for (let i = 0; i < 5; i++) {
      bench.request();
      bench.mirrorUpstream.last.handler.onError({
        kind: "refused",
        text: "connection refused",
        requestSent: false,
      });
    }
    expect(bench.log.lines).to.deep.equal([
      {
        level: "warn",
        message: "mirror request failed",
        fields: {
          route_id: "ingress/ns/web:0.0",
          upstream: "ns/copy",
          reason: "connection refused",
          untold_before: 0,
        },
      },
    ]);
    expect(
      bench.records.filter(({ status, error }) => status === 502 && error === "connection refused"),
    ).to.have.length(5);
    const empty = createBench({ filters: [mirroring(undefined, [])] });
    empty.request();
    expect([empty.log.lines[0]?.fields["reason"], copies(empty)]).to.deep.equal(["no endpoint", 0]);
  });

  for (const [hasTimedOut, expected] of [
    [false, { status: 502, error: "no answer", reason: "mirror-no-answer" }],
    [true, { status: 504, error: "mirror timeout", reason: "mirror-timeout" }],
  ] as const) {
    it(`a copy to a host of the gateway that ${hasTimedOut ? "does not answer in time" : "breaks off its response"} has its reason in the access log`, async () => {
      const call = {
        answer: Promise.resolve(undefined),
        hasTimedOut,
        cancel: () => {},
      };
      const target = { scheme: "http", authority: ["b.example"], target: ["/"], servedHosts: true } as const;
      const filter = mirrorTargetFilter(
        [{ service: "b.example", endpoints: undefined, protocol: "http1", url: target }],
        { ...environmentOf([endpoint]), auth: createAuthStore({ askHost: () => call }) },
      );
      const bench = createBench({ filters: [filter] });
      bench.request();
      await call.answer;
      await new Promise((resolve) => process.nextTick(resolve));
      expect(bench.records).to.have.length(1);
      expect(bench.records[0]).to.deep.include({ mirror: true, ...expected });
      expect(bench.log.lines[0]?.fields["reason"]).to.equal(expected.error);
    });
  }

  it("at most 256 copies are under way at a time, and the others are counted", () => {
    const bench = createBench({ filters: [mirroring()] });
    for (let i = 0; i < 258; i++) bench.request();
    expect(bench.upstream.sent).to.have.length(258);
    expect(copies(bench)).to.equal(256);
    expect(bench.metrics.limitsReached.with({ limit: "mirror-requests" }).value).to.equal(2);
    bench.mirrorUpstream.last.handler.onEnd(undefined);
    bench.request();
    expect(copies(bench)).to.equal(257);
  });

  describe("in time", () => {
    mockTimers();

    it("a copy is aborted after five seconds", () => {
      const bench = createBench({ filters: [mirroring()] });
      bench.request();
      mock.timers.tick(4_999);
      expect(bench.mirrorUpstream.aborted).to.equal(0);
      mock.timers.tick(1);
      expect(bench.mirrorUpstream.aborted).to.equal(1);
      expect(bench.records[0]).to.deep.include({ mirror: true, status: 504, error: "mirror timeout" });
      bench.mirrorUpstream.last.handler.onEnd(undefined);
      expect(bench.records).to.have.length(1);
    });
  });
});
