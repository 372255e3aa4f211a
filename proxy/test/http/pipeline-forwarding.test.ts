import { expect } from "chai";
import type { UpstreamErrorKind } from "../../src/upstream/upstream-errors.ts";
import { createBench, FakeBody, fieldOf } from "./fakes.ts";
import { Fields } from "../../src/message/fields.ts";

describe("pipeline: forwarding", () => {
  it("the upstream gets the normalised path, the query untouched, Host apart and the proxy's forwarding fields", () => {
    const bench = createBench();
    bench.request({
      target: "/a/./b/../%7Ec?q=%7E",
      headers: Fields.of(["Host", "A.example:80", "X-Real-IP", "forged"]),
    });
    const { request, endpoint } = bench.upstream.last;
    expect(endpoint.address).to.equal("127.0.0.1:1");
    expect(request.target).to.equal("/a/~c?q=%7E");
    expect(request.authority).to.equal("A.example:80");
    expect(fieldOf(request.headers, "host")).to.equal(undefined);
    expect(fieldOf(request.headers, "x-real-ip")).to.equal("192.0.2.7");
    expect(fieldOf(request.headers, "via")).to.equal("1.1 svc");
  });

  it("head, body and safe trailers are relayed, then counted and logged once", () => {
    const bench = createBench();
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onConnection(false);
    handler.onHead({ status: 201, headers: Fields.of(["X-A", "1"]), length: undefined, bodyless: false });
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

  it("a request is counted for its route and listener, but not for a route that is removed before the response", async () => {
    const bench = createBench();
    const id = "ingress/ns/web:0.0";
    const countOf = async (): Promise<number> =>
      (await bench.metrics.expose()).body
        .split("\n")
        .filter((line) => line.includes(`listener="80",route="${id}"`)).length;
    const answer = (): void => {
      const { handler } = bench.upstream.last;
      handler.onHead({ status: 200, headers: Fields.of([]), length: 0, bodyless: true });
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

  it("back-pressure is passed on in both directions", () => {
    const bench = createBench();
    const body = new FakeBody();
    const client = bench.request({ method: "POST" }, body);
    client.write = () => false;
    const { handler, request } = bench.upstream.last;
    handler.onHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
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
    it(`an upstream that fails with ${kind} is answered ${status}`, () => {
      const bench = createBench();
      const client = bench.request();
      bench.upstream.last.handler.onError({ kind, text: "some cause", requestSent: true });
      expect(client.head?.status).to.equal(status);
      expect(bench.records[0]).to.deep.include({ status, error: "some cause" });
    });
  }

  it("a response that has begun is cut when the upstream fails", () => {
    const bench = createBench();
    const client = bench.request();
    const { handler } = bench.upstream.last;
    handler.onHead({ status: 200, headers: Fields.of([]), length: 10, bodyless: false });
    handler.onError({ kind: "reset", text: "upstream reset", requestSent: true });
    expect(client.aborted).to.equal(true);
    expect(client.ended).to.equal(false);
    expect(bench.records[0]).to.deep.include({ status: 200, error: "upstream reset" });
  });

  it("a client that leaves is logged with 499 and its upstream request is aborted", () => {
    const bench = createBench();
    const client = bench.request();
    client.onClose?.("client-closed");
    expect(bench.upstream.aborted).to.equal(1);
    expect(bench.records[0]).to.deep.include({ status: 499, error: "client closed" });
    bench.upstream.last.handler.onHead({ status: 200, headers: Fields.of([]), length: 0, bodyless: true });
    expect(client.head).to.equal(undefined);
    expect(bench.records).to.have.length(1);
  });

  const bodyFailures = [
    ["timeout", 408],
    ["malformed", 400],
  ] as const;
  for (const [reason, status] of bodyFailures) {
    it(`a request body that ends with ${reason} is answered ${status}`, () => {
      const bench = createBench();
      const body = new FakeBody();
      const client = bench.request({ method: "POST" }, body);
      bench.upstream.readBody();
      body.sink?.onAbort(reason);
      expect(client.head?.status).to.equal(status);
      expect(client.closing).to.equal(true);
    });
  }
});
