import { once } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { mock } from "node:test";
import { expect } from "chai";
import { describeHttp2Codecs } from "../../http2-codecs.ts";
import { until } from "../../http/h2/support.ts";
import { benchForEach } from "./bench.ts";
import { bodyOf, exchange, FedBody } from "./support.ts";
import { Fields } from "../../../src/message/fields.ts";
import { mockTimers } from "../../mock-timers.ts";

describeHttp2Codecs("HTTP/2 upstream client", () => {
  const bench = benchForEach();

  it("the HTTP/2 client sends pseudo-header fields and lower-case fields", async () => {
    let received: readonly string[] = [];
    bench.handler = (stream, _headers, raw) => {
      received = raw;
      stream.respond({ ":status": 200 }, { endStream: true });
    };
    await exchange(bench.client, bench.backend.port, {
      method: "DELETE",
      target: "/a?b=c",
      authority: "h.test:81",
      scheme: "https",
      headers: Fields.of([
        "Host",
        "h.test:81",
        "X-A",
        "1",
        "x-a",
        "2",
        "te",
        "trailers",
        "Cookie",
        "a=1; b=2",
        "Upgrade",
        "x",
      ]),
    }).settled;
    expect(received).to.deep.equal([
      ...[":method", "DELETE", ":scheme", "https", ":authority", "h.test:81", ":path", "/a?b=c"],
      ...["x-a", "1", "x-a", "2", "te", "trailers", "cookie", "a=1; b=2"],
    ]);
  });

  it("the HTTP/2 client delivers head, body, length and end", async () => {
    bench.handler = (stream) => {
      stream.respond({ ":status": 201, "content-length": "5", "x-a": "1", "set-cookie": ["a=1", "b=2"] });
      stream.end("hello");
    };
    const { head, body, ended, trailers, connections } = await exchange(bench.client, bench.backend.port)
      .settled;
    expect(head?.status).to.equal(201);
    expect(head?.length).to.equal(5);
    expect(head?.bodyless).to.equal(false);
    expect(head?.headers.toList()).to.include.members(["content-length", "x-a", "set-cookie"]);
    expect(head?.headers.toList().filter((name) => name === "set-cookie")).to.have.length(2);
    expect(body).to.equal("hello");
    expect(ended).to.equal(true);
    expect(trailers).to.equal(undefined);
    expect(connections).to.deep.equal([false]);
  });

  it("the HTTP/2 client delivers final and 1xx heads without hop-by-hop fields", async () => {
    const ofConnection = {
      ...{ trailer: "x-t", te: "trailers", "proxy-authenticate": "Basic realm=p", "proxy-foo": "1" },
      ...{ proxy: "kept", trailers: "kept" },
    };
    bench.handler = (stream) => {
      stream.additionalHeaders({ ":status": 103, link: "</a>", ...ofConnection });
      stream.respond({ ":status": 200, "x-a": "1", ...ofConnection });
      stream.end("hello");
    };
    const sent = await exchange(bench.client, bench.backend.port).settled;
    const kept = ["proxy", "kept", "trailers", "kept"];
    expect(sent.informationalHeaders).to.deep.equal([["link", "</a>", ...kept]]);
    const names = sent.head?.headers.kept((name) => name !== "date");
    expect(names).to.deep.equal(["x-a", "1", ...kept]);
    expect(sent.body).to.equal("hello");
  });

  it("the HTTP/2 client recognises responses without a body", async () => {
    bench.handler = (stream, headers) => {
      const status = headers[":path"] === "/304" ? 304 : headers[":path"] === "/204" ? 204 : 200;
      stream.respond(
        { ":status": status, ...(status === 204 ? {} : { "content-length": "5" }) },
        { endStream: true },
      );
    };
    for (const [method, target] of [
      ["HEAD", "/"],
      ["GET", "/204"],
      ["GET", "/304"],
    ] as const) {
      const { head, ended } = await exchange(bench.client, bench.backend.port, { method, target }).settled;
      expect(head?.bodyless).to.equal(true);
      expect(ended).to.equal(true);
    }
    bench.handler = (stream) => stream.respond({ ":status": 200 }, { endStream: true });
    const { head } = await exchange(bench.client, bench.backend.port).settled;
    expect(head).to.deep.include({ bodyless: false, length: 0 });
  });

  it("the HTTP/2 client delivers trailers, even of a response that is only its head", async () => {
    bench.handler = (stream) => {
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", "x-b": ["1", "2"] }));
      stream.end("data");
    };
    const { body, trailers } = await exchange(bench.client, bench.backend.port).settled;
    expect(body).to.equal("data");
    expect(trailers).to.deep.equal(["grpc-status", "0", "x-b", "1", "x-b", "2"]);

    bench.handler = (stream) => stream.respond({ ":status": 200, "grpc-status": "5" }, { endStream: true });
    const only = await exchange(bench.client, bench.backend.port).settled;
    expect(only.head?.headers.toList()).to.include.members(["grpc-status", "5"]);
    expect(only.ended).to.equal(true);
  });

  describe("Expect: 100-continue", () => {
    // The while after which a body is started without an answer passes when a test says so.
    mockTimers();

    it("the HTTP/2 client relays 1xx heads and holds a body with expectContinue until 100", async () => {
      bench.hold();
      const body = new FedBody(4);
      const sent = exchange(bench.client, bench.backend.port, { method: "POST", body, expectContinue: true });
      await until(() => bench.streams.length === 1);
      const stream = bench.streams[0] as ServerHttp2Stream;
      expect(stream.sentInfoHeaders ?? []).to.have.length(0);
      expect(body.started).to.equal(false);
      stream.additionalHeaders({ ":status": 103, link: "</a>" });
      stream.additionalHeaders({ ":status": 100 });
      await body.whenStarted;
      expect(sent.informational[0]).to.equal(103);
      body.data("body");
      body.end();
      let text = "";
      stream.on("data", (chunk) => (text += String(chunk)));
      await once(stream, "end");
      stream.respond({ ":status": 200 }, { endStream: true });
      await sent.settled;
      expect(text).to.equal("body");
      expect(sent.informational).to.deep.equal([103, 100]);
    });

    it("the HTTP/2 client starts a body that waits for 100 Continue after one second", async () => {
      bench.hold();
      const body = new FedBody();
      exchange(bench.client, bench.backend.port, { method: "POST", body, expectContinue: true });
      await until(() => bench.streams.length === 1);
      mock.timers.tick(1_000);
      await body.whenStarted;
    });
  });

  it("the HTTP/2 client sends a request body of known length, and trailers", async () => {
    bench.hold();
    const withLength = exchange(bench.client, bench.backend.port, { method: "POST", body: bodyOf("hello") });
    await until(() => bench.streams.length === 1);
    const first = bench.streams[0] as ServerHttp2Stream;
    let text = "";
    first.on("data", (chunk) => (text += String(chunk)));
    await once(first, "end");
    first.respond({ ":status": 200 }, { endStream: true });
    await withLength.settled;
    expect(text).to.equal("hello");

    const body = new FedBody();
    const streaming = exchange(bench.client, bench.backend.port, { method: "POST", body });
    await until(() => bench.streams.length === 2);
    const second = bench.streams[1] as ServerHttp2Stream;
    let trailers: readonly string[] = [];
    second.on(
      "trailers",
      (_headers, _flags, ...rest) => (trailers = (rest as unknown as string[][])[0] ?? []),
    );
    second.resume();
    body.data("x");
    body.end(["X-Sum", "1"]);
    await once(second, "end");
    expect(trailers).to.deep.equal(["x-sum", "1"]);
    second.respond({ ":status": 200 }, { endStream: true });
    await streaming.settled;
  });

  it("the HTTP/2 client pauses a response that the handler cannot take", async () => {
    const size = 3_000_000;
    let stream: ServerHttp2Stream | undefined;
    bench.handler = (opened) => {
      stream = opened;
      opened.respond({ ":status": 200 });
      opened.end(Buffer.alloc(size, 97));
    };
    const sent = exchange(bench.client, bench.backend.port);
    sent.full = true;
    await sent.when(() => sent.body.length > 0);
    const before = sent.body.length;
    // Another request goes round: what could arrive has arrived by then.
    bench.handler = (opened) => opened.respond({ ":status": 200 }, { endStream: true });
    await exchange(bench.client, bench.backend.port).settled;
    expect(sent.body.length).to.equal(before);
    expect(stream?.bufferSize).to.be.greaterThan(size - 256 * 1024);
    sent.full = false;
    sent.stream.resume();
    await sent.settled;
    expect(sent.body.length).to.equal(size);
  });

  it("the HTTP/2 client pauses a request body that the upstream does not read", async () => {
    bench.hold();
    const body = new FedBody();
    const sent = exchange(bench.client, bench.backend.port, { method: "POST", body });
    await body.whenStarted;
    const chunk = Buffer.alloc(16_384, 97);
    let written = 0;
    let more = true;
    while (more) {
      more = body.data(chunk);
      written += chunk.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(written).to.be.at.most(256 * 1024);
    await until(() => bench.streams.length === 1);
    expect(body.resumes).to.equal(0);
    const stream = bench.streams[0] as ServerHttp2Stream;
    let received = 0;
    stream.on("data", (data: Buffer) => (received += data.length));
    await until(() => body.resumes > 0);
    body.end();
    await once(stream, "end");
    expect(received).to.equal(written);
    stream.respond({ ":status": 200 }, { endStream: true });
    expect((await sent.settled).ended).to.equal(true);
  });

  it("the HTTP/2 client delivers an early response and stops sending the request", async () => {
    const body = new FedBody();
    let rstCode = -1;
    bench.handler = (stream) => {
      stream.on("close", () => (rstCode = stream.rstCode));
      stream.respond({ ":status": 413 });
      stream.end("too much");
    };
    const sent = exchange(bench.client, bench.backend.port, { method: "POST", body });
    await body.whenStarted;
    const { head, body: text, ended } = await sent.settled;
    expect(head?.status).to.equal(413);
    expect(text).to.equal("too much");
    expect(ended).to.equal(true);
    expect(body.data("more")).to.equal(false);
    await until(() => rstCode !== -1);
    expect((await exchange(bench.client, bench.backend.port).settled).ended).to.equal(true);
    expect(bench.backend.sessions).to.have.length(1);
  });

  it("an aborted request resets its stream and reports nothing", async () => {
    bench.hold();
    const sent = exchange(bench.client, bench.backend.port);
    await until(() => bench.streams.length === 1);
    const stream = bench.streams[0] as ServerHttp2Stream;
    const closed = once(stream, "close");
    sent.stream.abort();
    await closed;
    expect(stream.rstCode).to.equal(8);
    bench.handler = (other) => other.respond({ ":status": 200 }, { endStream: true });
    await exchange(bench.client, bench.backend.port).settled;
    expect(sent.error).to.equal(undefined);
    expect(sent.ended).to.equal(false);
  });

  it("an aborted request that waits for its connection is never sent", async () => {
    const sent = exchange(bench.client, bench.backend.port);
    sent.stream.abort();
    await exchange(bench.client, bench.backend.port).settled;
    expect(bench.streams).to.have.length(1);
    expect(sent.connections).to.deep.equal([]);
  });

  it("a request body that ends early is reported, and its stream is reset", async () => {
    bench.hold();
    const body = new FedBody(10);
    const sent = exchange(bench.client, bench.backend.port, { method: "POST", body });
    await body.whenStarted;
    await until(() => bench.streams.length === 1);
    const stream = bench.streams[0] as ServerHttp2Stream;
    const closed = once(stream, "close");
    body.data("part");
    body.abort("timeout");
    const { error } = await sent.settled;
    expect(error).to.deep.include({ kind: "request-body", requestSent: true });
    await closed;
    expect(stream.rstCode).to.equal(8);
  });

  it("the HTTP/2 client rejects an upgrade", async () => {
    const { error } = await exchange(bench.client, bench.backend.port, { upgrade: "websocket" }).settled;
    expect(error).to.deep.include({ kind: "invalid", requestSent: false });
  });
});
