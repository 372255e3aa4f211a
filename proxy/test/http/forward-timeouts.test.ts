import { mock } from "node:test";
import type { Timeouts } from "@svc-gateway/common/features/timeouts.ts";
import { expect } from "chai";
import { timeoutsFilter } from "../../src/filters/timeouts.ts";
import { createBench, FakeBody } from "./fakes.ts";
import { holdClock } from "./held-clock.ts";
import { Fields } from "../../src/message/fields.ts";
import { mockTimers } from "../mock-timers.ts";

describe("forwarding under timeouts", () => {
  // A timer that is much too late lets arrived data be read before it expires.
  holdClock();
  mockTimers();

  const bench = () => createBench({ filters: [timeoutsFilter({ sendTimeoutMs: 100, readTimeoutMs: 50 })] });
  const timeoutsOf = ({ metrics }: ReturnType<typeof bench>): number =>
    metrics.upstreamErrors.with({
      listener: "80",
      route: "ingress/ns/web:0.0",
      upstream: "ns/web",
      error_type: "timeout",
    }).value;
  const ok = () => ({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });

  it("no upstream timeout runs before there is a connection", () => {
    const under = bench();
    const client = under.request();
    mock.timers.tick(1000);
    expect(client.head).to.equal(undefined);
    under.upstream.last.handler.onConnection(false);
    mock.timers.tick(50);
    expect(client.head?.status).to.equal(504);
    expect(under.upstream.aborted).to.equal(1);
    expect(timeoutsOf(under)).to.equal(1);
    expect(under.records[0]).to.include({ status: 504, error: "upstream read timeout" });
  });

  it("the read timeout runs from the end of the request body", () => {
    const under = bench();
    const body = new FakeBody();
    const client = under.request({ method: "POST" }, body);
    const { handler, request } = under.upstream.last;
    handler.onConnection(true);
    request.body?.start({ onData: () => true, onEnd: () => {}, onAbort: () => {} });
    mock.timers.tick(99);
    body.sink?.onEnd(undefined);
    mock.timers.tick(49);
    expect(client.head).to.equal(undefined);
    mock.timers.tick(1);
    expect(client.head?.status).to.equal(504);
    expect(under.records[0]?.error).to.equal("upstream read timeout");
  });

  it("a request body that is not sent in time is answered 504", () => {
    const under = bench();
    const client = under.request({ method: "POST" }, new FakeBody());
    under.upstream.last.handler.onConnection(true);
    mock.timers.tick(100);
    expect(client.head?.status).to.equal(504);
    expect(under.records[0]?.error).to.equal("upstream send timeout");
  });

  it("a response that has begun is not cut by send and read timeouts", () => {
    const under = bench();
    const client = under.request();
    const { handler } = under.upstream.last;
    handler.onConnection(true);
    handler.onHead(ok());
    mock.timers.tick(1000);
    expect(client.aborted).to.equal(false);
    handler.onEnd(undefined);
    expect(client.ended).to.equal(true);
    expect(timeoutsOf(under)).to.equal(0);
  });

  it("the upstream timeouts stop when the client leaves or the upstream fails", () => {
    const under = bench();
    const left = under.request();
    under.upstream.last.handler.onConnection(true);
    left.onClose?.("client-closed");
    under.request();
    const { handler } = under.upstream.last;
    handler.onConnection(true);
    handler.onError({ kind: "refused", text: "connection refused", requestSent: false });
    mock.timers.tick(1000);
    expect(timeoutsOf(under)).to.equal(0);
    expect(under.records.map(({ status }) => status)).to.deep.equal([499, 502]);
  });

  describe("of a route", () => {
    const limited = (timeouts: Timeouts) => createBench({ filters: [timeoutsFilter(timeouts)] });

    it("a whole response that does not arrive in time, connecting included, is answered 504", () => {
      const under = limited({ backendTimeoutMs: 100 });
      const client = under.request();
      mock.timers.tick(99);
      expect(client.head).to.equal(undefined);
      mock.timers.tick(1);
      expect(client.head?.status).to.equal(504);
      expect(under.upstream.aborted).to.equal(1);
      expect(under.records[0]).to.include({ status: 504, error: "upstream request timeout" });
      expect(timeoutsOf(under)).to.equal(1);
    });

    it("a response that has begun but does not end in time is cut", () => {
      const under = limited({ backendTimeoutMs: 100 });
      const client = under.request();
      const { handler } = under.upstream.last;
      handler.onConnection(true);
      handler.onHead(ok());
      mock.timers.tick(100);
      expect(client.aborted).to.equal(true);
      expect(under.records[0]).to.include({ status: 200, error: "upstream request timeout" });
    });

    it("a response that ends in time is not cut", () => {
      const under = limited({ backendTimeoutMs: 100, requestTimeoutMs: 100 });
      const client = under.request();
      const { handler } = under.upstream.last;
      handler.onConnection(true);
      handler.onHead(ok());
      handler.onEnd(undefined);
      mock.timers.tick(1000);
      expect(client).to.include({ aborted: false, ended: true });
      expect(under.records).to.have.length(1);
      expect(timeoutsOf(under)).to.equal(0);
    });

    it("the request timeout limits the whole request independent of the upstream's timeouts", () => {
      const under = limited({ requestTimeoutMs: 100, readTimeoutMs: 1000 });
      const client = under.request();
      under.upstream.last.handler.onConnection(true);
      mock.timers.tick(100);
      expect(client.head?.status).to.equal(504);
      expect(under.upstream.aborted).to.equal(1);
      expect(under.records[0]).to.include({ status: 504, error: "request timeout" });
      expect(timeoutsOf(under)).to.equal(1);
    });
  });
});
