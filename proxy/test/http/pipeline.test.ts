import { PassThrough } from "node:stream";
import { expect } from "chai";
import { Fields } from "../../src/message/fields.ts";
import { SocketTransport } from "../../src/sockets/socket-transport.ts";
import type { RequestHead } from "../../src/message/message.ts";
import { awake } from "../../src/timing/awake-clock.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import { createBench, FakeBody, fieldOf } from "./fakes.ts";
import { holdClock } from "./held-clock.ts";

describe("pipeline: answers without an upstream", () => {
  const vias = Array.from({ length: 10 }, () => ["Via", "1.1 svc"]).flat();
  const cases: readonly [string, Partial<RequestHead>, number][] = [
    ["a missing Host", { headers: Fields.of([]) }, 400],
    ["the method TRACE", { method: "TRACE" }, 405],
    ["OPTIONS and the target *", { method: "OPTIONS", target: "*" }, 204],
    ["an unknown expectation", { headers: Fields.of(["Host", "a", "Expect", "202-later"]) }, 417],
    ["ten passes through this proxy", { headers: Fields.of(["Host", "a", ...vias]) }, 508],
    ["a NUL in the path", { target: "/a%00" }, 400],
    ["a path without a route", { target: "/b" }, 404],
  ];
  for (const [name, given, status] of cases) {
    it(`a request with ${name} is answered ${status}`, () => {
      const bench = createBench();
      const client = bench.request(given);
      expect(client.head?.status).to.equal(status);
      expect(client.ended).to.equal(true);
      expect(bench.upstream.sent).to.have.length(0);
      expect(bench.records.map((record) => record.status)).to.deep.equal([status]);
      expect(bench.active.size).to.equal(0);
    });
  }

  it("a request for a host of another listener than the connection's is answered 421", () => {
    const statusOver = (serverName: string): number | undefined =>
      createBench({ serverName }).request({ target: "/b" }).head?.status;
    expect(statusOver("other")).to.equal(421);
    expect(statusOver("of-this-listener")).to.equal(404);
    expect(statusOver("")).to.equal(404);
  });

  it("an error has its status and reason as plain text that must not be stored", () => {
    const { head, text } = createBench().request({ target: "/b" });
    expect(text).to.equal("404 Not Found\n");
    expect(fieldOf(head?.headers ?? [], "content-type")).to.equal("text/plain");
    expect(fieldOf(head?.headers ?? [], "cache-control")).to.equal("no-store");
    expect(fieldOf(head?.headers ?? [], "content-length")).to.equal("14");
  });

  it("the response to HEAD has no body", () => {
    const client = createBench().request({ target: "/b", method: "HEAD" });
    expect(client.text).to.equal("");
    expect(client.head?.bodyless).to.equal(true);
  });

  it("a gRPC client gets a gRPC status while the log has the HTTP status", () => {
    const bench = createBench();
    const headers = ["content-type", "application/grpc"];
    const client = bench.request({
      version: "2.0",
      authority: "a",
      target: "/b",
      headers: Fields.of(headers),
    });
    expect(client.head?.status).to.equal(200);
    expect(fieldOf(client.head?.headers ?? [], "grpc-status")).to.equal("12");
    expect(client.text).to.equal("");
    expect(bench.records[0]?.status).to.equal(404);
  });

  it("a gRPC client of a broken backend gets the status UNAVAILABLE", () => {
    const client = createBench({ backend: { kind: "status", status: 500 } }).request({
      headers: Fields.of(["host", "a", "content-type", "application/grpc"]),
    });
    expect(fieldOf(client.head?.headers ?? [], "grpc-status")).to.equal("14");
  });

  it("a gRPC client of a rule with a filter that does not exist gets the status UNKNOWN, for which calls are not repeated", () => {
    const bench = createBench({ backend: { kind: "status", status: 500, fault: "filter" } });
    const client = bench.request({ headers: Fields.of(["host", "a", "content-type", "application/grpc"]) });
    expect(fieldOf(client.head?.headers ?? [], "grpc-status")).to.equal("2");
    expect(bench.records[0]?.error).to.equal("filter not resolved");
  });

  it("a request without endpoints is answered 503, and one to a broken backend with its status", () => {
    expect(createBench({ endpoints: 0 }).request().head?.status).to.equal(503);
    expect(createBench({ backend: { kind: "status", status: 500 } }).request().head?.status).to.equal(500);
  });
});

describe("pipeline: the choice of an endpoint", () => {
  const selecting = (setCookie: string | undefined) => {
    const reported: string[] = [];
    const endpoint = { host: "127.0.0.1", port: 1, address: "127.0.0.1:1" };
    const watch = {
      responded: (status: number) => void reported.push(`responded ${status}`),
      failed: () => void reported.push("failed"),
      ended: () => void reported.push("ended"),
    };
    const retryBudget = new RetryBudget(0);
    const protocol = "http1" as const;
    const upstream = { key: "ns/web/80", service: "ns/web", protocol, retryBudget, endpoints: [endpoint] };
    const pick = () => ({ endpoint, watch, setCookie });
    return {
      reported,
      ...createBench({ backend: { kind: "upstream", filters: [], upstream: { ...upstream, pick } } }),
    };
  };

  it("the session cookie is set on the answer of the endpoint, not on the proxy's own", () => {
    const bench = selecting("sid=1; Path=/; HttpOnly");
    const answered = bench.request();
    bench.upstream.last.handler.onHead({
      status: 200,
      headers: Fields.of(["X-A", "1"]),
      length: 0,
      bodyless: true,
    });
    expect(answered.head?.headers).to.deep.equal(["X-A", "1", "Set-Cookie", "sid=1; Path=/; HttpOnly"]);
    const failed = bench.request();
    bench.upstream.last.handler.onError({ kind: "refused", text: "connection refused", requestSent: false });
    expect(fieldOf(failed.head?.headers ?? [], "set-cookie")).to.equal(undefined);
    expect(bench.reported).to.deep.equal(["responded 200", "failed", "ended"]);
  });

  it("the session cookie is set on a 101 as well, since a WebSocket has no other answer", () => {
    const bench = selecting("sid=1; Path=/; HttpOnly");
    const client = bench.request({
      headers: Fields.of(["Host", "a", "Connection", "upgrade", "Upgrade", "websocket"]),
    });
    bench.upstream.last.handler.onUpgrade(Fields.of(["Upgrade", "websocket"]), {
      transport: new SocketTransport(new PassThrough()),
      head: Buffer.alloc(0),
    });
    expect(client.upgradeFields).to.deep.equal([
      "Upgrade",
      "websocket",
      "Set-Cookie",
      "sid=1; Path=/; HttpOnly",
    ]);
  });

  it("a missing answer counts as a failure of the endpoint, a client that leaves does not", () => {
    const bench = selecting(undefined);
    bench.request();
    bench.active.sweep(performance.now() + 60_000);
    expect(bench.reported.splice(0)).to.deep.equal(["failed", "ended"]);
    const client = bench.request();
    client.onClose?.("client-closed");
    expect(bench.reported.splice(0)).to.deep.equal(["ended"]);
    bench.request({ method: "POST" }, new FakeBody());
    bench.active.sweep(performance.now() + 60_000);
    expect(bench.reported).to.deep.equal(["ended"]);
  });

  it("a request that no circuit breaker lets through is answered 503", () => {
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

describe("pipeline: time limits", () => {
  const clock = holdClock();

  it("a request that is idle or takes too long is answered 504", () => {
    const bench = createBench();
    const idle = bench.request();
    clock.advance(999);
    bench.active.sweep(awake.nowMs);
    expect(idle.head).to.equal(undefined);
    clock.advance(1);
    bench.active.sweep(awake.nowMs);
    expect(idle.head?.status).to.equal(504);
    expect(bench.upstream.aborted).to.equal(1);
    expect(bench.active.size).to.equal(0);
  });
});
