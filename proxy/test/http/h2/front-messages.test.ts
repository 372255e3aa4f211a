import { describeHttp2Codecs } from "../../http2-codecs.ts";
import type { ClientHttp2Session } from "node:http2";
import { expect } from "chai";
import { answerOf, type FrontServer, get, openSession, reply, startFront, streamingHead } from "./support.ts";
import { Fields } from "../../../src/message/fields.ts";
import { listed } from "../../message/listed.ts";

describeHttp2Codecs("HTTP/2 front: messages", (codec) => {
  let server: FrontServer;
  let session: ClientHttp2Session;

  beforeEach(async () => {
    server = await startFront(codec);
    session = openSession(server.url);
  });
  afterEach(async () => {
    session.destroy();
    await server.close();
  });

  it("an HTTP/2 request reaches the handler with method, target, authority, scheme and fields", async () => {
    const answer = get(session, {
      ":method": "DELETE",
      ":path": "/a?b=c",
      ":authority": "h.test:81",
      "x-a": ["1", "2"],
    });
    const { head, client } = await server.next();
    reply(client, "");
    await answer;
    expect(listed(head)).to.deep.equal({
      version: "2.0",
      method: "DELETE",
      target: "/a?b=c",
      authority: "h.test:81",
      scheme: "http",
      headers: ["x-a", "1", "x-a", "2"],
    });
    expect(client.body).to.equal(null);
  });

  it("the fields that a client repeats are unchanged in each request when those of an earlier one are changed", async () => {
    // nghttp2 keeps only longer cookies in its table.
    const cookies = ["a", "b"].map((name) => `${name}=${"1".repeat(30)}`);
    const fields = { "x-a": ["1", "2"], cookie: cookies, accept: "*/*" };
    const cookie = cookies.join("; ");
    const expected = ["x-a", "1", "x-a", "2", "cookie", cookie, "accept", "*/*"];
    for (const other of [{}, {}, {}, { "x-b": "3" }, {}, {}]) {
      const answer = get(session, { ...fields, ...other });
      const { head, client } = await server.next();
      expect(head.headers.toList()).to.deep.equal([...expected, ...Object.entries(other).flat()]);
      head.headers.remove(new Set(["x-a"]));
      head.headers.append("x-c", "4");
      expect(head.headers.linesText()).to.equal(
        `cookie: ${cookie}\r\naccept: */*\r\n${"x-b" in other ? "x-b: 3\r\n" : ""}x-c: 4\r\n`,
      );
      reply(client, "");
      await answer;
    }
  });

  it("every HTTP/2 method that is a token reaches the handler unchanged", async () => {
    for (const method of ["BREW", "get", "M-SEARCH", "!#$%&'*+.^_`|~09", "X".repeat(1000)]) {
      const answer = get(session, { ":method": method });
      const { head, client } = await server.next();
      reply(client, "ok");
      expect([head.method, (await answer).status]).to.deep.equal([method, 200]);
    }
  });

  it("octets above 0x7F in field values are relayed unchanged both ways", async () => {
    const octets = Array.from({ length: 128 }, (_, i) => String.fromCharCode(128 + i)).join("");
    const answer = get(session, { "x-a": octets });
    const { head, client } = await server.next();
    reply(client, "ok", ["x-b", octets]);
    expect([head.headers.toList(), (await answer).headers["x-b"]]).to.deep.equal([["x-a", octets], octets]);
  });

  it("an HTTP/2 CONNECT reaches the handler with the authority as its target, and cannot be upgraded", async () => {
    const stream = session.request({ ":method": "CONNECT", ":authority": "h.test:443" });
    const { head, client } = await server.next();
    expect(head.method).to.equal("CONNECT");
    expect(head.target).to.equal("h.test:443");
    expect(client.upgrade(Fields.of([]))).to.equal(undefined);
    client.sendHead({ status: 405, headers: Fields.of([]), length: 0, bodyless: false });
    client.end(undefined);
    expect((await answerOf(stream)).status).to.equal(405);
  });

  it("response fields are sent in lower case and without connection-specific fields", async () => {
    const answer = get(session);
    const { client } = await server.next();
    reply(client, "ok", [
      "X-Up",
      "1",
      "Connection",
      "x-up",
      "Keep-Alive",
      "1",
      "Transfer-Encoding",
      "chunked",
      "Upgrade",
      "h2c",
      "Proxy-Connection",
      "close",
      "Set-Cookie",
      "a=1",
      "Set-Cookie",
      "b=2",
      "X-Evil",
      "a\r\nb: c",
      "X Y",
      "1",
    ]);
    const { status, headers, body } = await answer;
    expect(status).to.equal(200);
    expect(body).to.equal("ok");
    const names = Object.keys(headers).filter((name) => !name.startsWith(":") && name !== "date");
    expect(names).to.have.members(["x-up", "set-cookie", "content-length"]);
    expect(headers["set-cookie"]).to.deep.equal(["a=1", "b=2"]);
  });

  it("repeated single-value fields of a response are accepted", async () => {
    const answer = get(session);
    const { client } = await server.next();
    reply(client, "", ["Content-Type", "text/a", "Content-Type", "text/b"]);
    expect((await answer).status).to.equal(200);
  });

  for (const [what, headers, bodyless] of [
    ["with a length", [], false],
    ["with trailers to come", ["Content-Type", "application/grpc"], false],
    ["without body", [], true],
  ] as const) {
    it(`an undated response head ${what} gets no Date`, async () => {
      const answers = [get(session), get(session)];
      for (const undated of [undefined, true] as const) {
        const { client } = await server.next();
        const length = headers.length === 0 ? 0 : undefined;
        client.sendHead({
          status: 200,
          headers: Fields.of([...headers]),
          length,
          bodyless,
          ...(undated && { undated }),
        });
        client.end(undefined);
      }
      const [dated, undated] = await Promise.all(answers);
      expect(dated?.headers).to.have.property("date");
      expect(undated?.status).to.equal(200);
      expect(undated?.headers).not.to.have.property("date");
    });
  }

  it("a response without body is one HEADERS frame with END_STREAM", async () => {
    const stream = session.request({ ":path": "/" });
    const answer = answerOf(stream);
    let flags = 0;
    stream.on("response", (_headers, frameFlags) => (flags = frameFlags));
    const { client } = await server.next();
    client.sendHead({ status: 204, headers: Fields.of([]), length: 0, bodyless: true });
    client.end(undefined);
    await answer;
    expect(flags & 1).to.equal(1);
  });

  it("a gRPC error is sent as trailers-only: one HEADERS frame with END_STREAM", async () => {
    const stream = session.request({ ":path": "/", "content-type": "application/grpc", ":method": "POST" });
    stream.end("hello");
    const answer = answerOf(stream);
    let flags = 0;
    stream.on("response", (_headers, frameFlags) => (flags = frameFlags));
    const { client } = await server.next();
    client.sendHead({
      status: 200,
      headers: Fields.of(["content-type", "application/grpc", "grpc-status", "12"]),
      length: undefined,
      bodyless: false,
    });
    client.end(undefined);
    const { headers, rstCode } = await answer;
    expect(headers["grpc-status"]).to.equal("12");
    expect(flags & 1).to.equal(1);
    expect(rstCode).to.equal(0);
  });

  it("the response to an HTTP/2 HEAD request has the length and no body", async () => {
    const answer = get(session, { ":method": "HEAD" });
    const { client } = await server.next();
    client.sendHead({
      status: 200,
      headers: Fields.of(["Content-Length", "5"]),
      length: 5,
      bodyless: true,
    });
    expect(client.write("hello")).to.equal(true);
    client.end(undefined);
    const { headers, body, complete } = await answer;
    expect(headers["content-length"]).to.equal("5");
    expect(body).to.equal("");
    expect(complete).to.equal(true);
  });

  it("the response to an HTTP/2 HEAD request ends also when head and end come in different turns", async () => {
    const answer = get(session, { ":method": "HEAD" });
    const { client } = await server.next();
    client.sendHead({
      status: 200,
      headers: Fields.of(["Content-Length", "5"]),
      length: 5,
      bodyless: true,
    });
    await new Promise((resolve) => setImmediate(resolve));
    client.end(undefined);
    expect((await answer).complete).to.equal(true);
  });

  it("a 205 response is sent without the content of the upstream, which no client would accept", async () => {
    const answer = get(session);
    const { client } = await server.next();
    client.sendHead({
      status: 205,
      headers: Fields.of(["A", "b", "Content-Length", "2"]),
      length: 2,
      bodyless: false,
    });
    client.write("ok");
    client.end(undefined);
    const { status, headers, body, complete } = await answer;
    expect([status, body, complete, client.bytesSent]).to.deep.equal([205, "", true, 0]);
    expect(headers).to.include({ a: "b" }).and.not.have.property("content-length");
  });

  it("an HTTP/2 response head that nothing follows is sent at the end of the turn", async () => {
    const stream = session.request({ ":path": "/" });
    const answer = answerOf(stream);
    const { client } = await server.next();
    client.sendHead(streamingHead(["x-a", "1"]));
    await new Promise((resolve) => stream.once("response", resolve));
    client.write("a");
    client.write("b");
    client.end(undefined);
    expect((await answer).body).to.equal("ab");
    expect(client.bytesSent).to.equal(2);
  });

  it("trailers are sent after a response body, and after no body", async () => {
    for (const body of ["", "abc"]) {
      const answer = get(session);
      const { client } = await server.next();
      client.sendHead(streamingHead());
      if (body !== "") client.write(body);
      client.end(["X-Sum", "1", "x-sum", "2", "grpc-status", "0"]);
      const received = await answer;
      expect(received.body).to.equal(body);
      expect(received.trailers).to.deep.include({ "x-sum": "1, 2", "grpc-status": "0" });
    }
  });

  it("trailers are sent for a streamed response and for a gRPC response of known length", async () => {
    for (const fields of [{}, { "content-type": "application/grpc" }]) {
      const answer = get(session, fields);
      const { client } = await server.next();
      const grpc = "content-type" in fields;
      client.sendHead({ ...streamingHead(), length: grpc ? 3 : undefined });
      await new Promise((resolve) => setImmediate(resolve));
      client.write("abc");
      await new Promise((resolve) => setImmediate(resolve));
      client.end(["grpc-status", "0"]);
      expect((await answer).trailers).to.deep.include({ "grpc-status": "0" });
    }
  });

  it("1xx responses are relayed before the final response, and none after it", async () => {
    const answer = get(session);
    const { client } = await server.next();
    client.sendInformational(103, ["Link", "</a>"]);
    client.sendInformational(103, ["Link", "</b>"]);
    reply(client, "ok");
    client.sendInformational(103, ["Link", "</c>"]);
    const { informational, body } = await answer;
    expect(informational).to.deep.equal([103, 103]);
    expect(body).to.equal("ok");
  });

  it("the HTTP/2 front sends 100 Continue only when the handler does", async () => {
    const stream = session.request({ ":method": "POST", ":path": "/", expect: "100-continue" });
    const answer = answerOf(stream);
    const { head, client } = await server.next();
    expect(head.headers.has("expect")).to.equal(true);
    client.sendInformational(100, []);
    stream.once("continue", () => stream.end("body"));
    await new Promise((resolve) => stream.once("continue", resolve));
    reply(client, "ok");
    expect((await answer).informational).to.deep.equal([100]);
  });

  it("an aborted HTTP/2 response resets its stream", async () => {
    const answer = get(session);
    const { client } = await server.next();
    client.sendHead(streamingHead());
    client.write("part");
    await new Promise((resolve) => setImmediate(resolve));
    client.abort();
    const { complete, rstCode } = await answer;
    expect(complete).to.equal(false);
    expect(rstCode).to.equal(2);
  });

  it("a stream continues when another one of its connection is aborted", async () => {
    const [first, second] = [get(session), get(session)];
    const one = await server.next();
    const two = await server.next();
    one.client.abort();
    expect((await first).rstCode).to.equal(2);
    reply(two.client, "alive");
    expect((await second).body).to.equal("alive");
  });

  it("an HTTP/2 connection stays open after a response that would close a connection of HTTP/1", async () => {
    const closing = get(session);
    const { client } = await server.next();
    client.closeAfterResponse();
    reply(client, "bye");
    expect((await closing).body).to.equal("bye");
    const next = get(session);
    reply((await server.next()).client, "still here");
    expect((await next).body).to.equal("still here");
  });

  it("an HTTP/2 client stream ignores calls after the end of the response", async () => {
    const answer = get(session);
    const { client } = await server.next();
    reply(client, "once");
    client.write("more");
    client.end(["a", "b"]);
    client.sendHead(streamingHead());
    client.abort();
    expect((await answer).body).to.equal("once");
  });

  it("a handler that throws resets its HTTP/2 stream, and the connection continues", async () => {
    await server.close();
    server = await startFront(codec, (_connection, head, client) => {
      if (head.target === "/bug") throw new Error("bug");
      reply(client, "ok");
    });
    session = openSession(server.url);
    expect((await get(session, { ":path": "/bug" })).rstCode).to.equal(2);
    expect(server.events[0]).to.deep.include({ reason: "handler-failed", status: 0 });
    expect((await get(session)).body).to.equal("ok");
  });
});
