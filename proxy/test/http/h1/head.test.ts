import { expect } from "chai";
import type { RequestHead } from "../../../src/message/message.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import { answer, bodyOf, startFront, statusesOf, stopAll } from "./harness.ts";
import { type Listed, listed } from "../../message/listed.ts";

describeCodecs("the HTTP/1 front: heads", (codec) => {
  afterEach(stopAll);

  const startRecording = async (limits = {}) => {
    const heads: Listed<RequestHead>[] = [];
    const started = await startFront((_, head, client) => {
      heads.push(listed(head));
      answer(client);
    }, limits);
    return { ...started, heads };
  };

  it("method, target, version and fields reach the handler as they were received", async () => {
    const { connect, heads } = await startRecording();
    const client = await connect();
    client.send(
      "PATCH /a%20b?c=d HTTP/1.1\r\nHost: Example.com\r\nx-A:  1 \t\r\nX-a: 2\r\nCookie: \xe9\r\n\r\n",
    );
    expect(bodyOf(await client.until(/hello$/))).to.equal("hello");
    expect(heads).to.deep.equal([
      {
        version: "1.1",
        method: "PATCH",
        target: "/a%20b?c=d",
        authority: undefined,
        scheme: undefined,
        headers: ["Host", "Example.com", "x-A", "1", "X-a", "2", "Cookie", "\xe9"],
      },
    ]);
  });

  it("a request head that arrives byte by byte is read", async () => {
    const { connect, heads } = await startRecording();
    const client = await connect();
    for (const byte of "GET /slow HTTP/1.1\r\nHost: a\r\nX-Long: value\r\n\r\n") {
      client.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await client.until(/hello$/);
    expect(heads[0]?.target).to.equal("/slow");
    expect(heads[0]?.headers).to.deep.equal(["Host", "a", "X-Long", "value"]);
  });

  for (const [form, line] of [
    ["absolute", "GET http://a:80/b HTTP/1.1"],
    ["asterisk", "OPTIONS * HTTP/1.1"],
    ["authority", "CONNECT a:443 HTTP/1.1"],
  ] as const) {
    it(`a request target in ${form} form reaches the handler unchanged`, async () => {
      const { connect, heads } = await startRecording();
      const client = await connect();
      client.send(`${line}\r\nHost: a\r\n\r\n`);
      await client.until(/hello$/);
      expect(`${heads[0]?.method} ${heads[0]?.target} HTTP/1.1`).to.equal(line);
    });
  }

  it("the connection is closed after the response to CONNECT", async () => {
    const { connect } = await startRecording();
    const client = await connect();
    client.send("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n");
    const text = await client.untilEnd();
    expect(text).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n[^]*hello$/);
  });

  it("a request with a missing or repeated Host reaches the handler", async () => {
    const { connect, heads } = await startRecording();
    const client = await connect();
    client.send("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    await client.until(/hello[^]*hello$/);
    expect(heads.map(({ headers }) => headers)).to.deep.equal([[], ["Host", "a", "Host", "b"]]);
  });

  it("empty lines before a request are ignored", async () => {
    const { connect, heads } = await startRecording();
    const client = await connect();
    client.send("\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    await client.until(/hello$/);
    expect(heads[0]?.target).to.equal("/x");
  });

  describe("limits", () => {
    const small = { maxUriBytes: 100, maxHeaderBytes: 1000, maxHeaders: 5 };
    const target = (bytes: number): string => `/${"u".repeat(bytes - 1)}`;
    const fields = (count: number): string => "X: y\r\n".repeat(count);

    const cases: readonly (readonly [string, string, string])[] = [
      ["a target of the longest length", `GET ${target(100)} HTTP/1.1\r\nHost: a\r\n\r\n`, "200"],
      ["a longer target", `GET ${target(101)} HTTP/1.1\r\nHost: a\r\n\r\n`, "414"],
      ["a target beyond the parser's bound", `GET ${target(5000)} HTTP/1.1\r\nHost: a\r\n\r\n`, "414"],
      ["as many fields as allowed", `GET / HTTP/1.1\r\n${fields(5)}\r\n`, "200"],
      ["one field more than allowed", `GET / HTTP/1.1\r\n${fields(6)}\r\n`, "431"],
      ["far more fields", `GET / HTTP/1.1\r\n${fields(150)}\r\n`, "431"],
      ["fields of the largest size", `GET / HTTP/1.1\r\nX: ${"v".repeat(995)}\r\n\r\n`, "200"],
      [
        "fields that are a byte larger than allowed",
        `GET / HTTP/1.1\r\nX: ${"v".repeat(996)}\r\n\r\n`,
        "431",
      ],
      ["fields beyond the parser's bound", `GET / HTTP/1.1\r\nX: ${"v v".repeat(3000)}\r\n\r\n`, "431"],
    ];
    const withMethod = (bytes: number): string => `${"M".repeat(bytes)} / HTTP/1.1\r\nHost: a\r\n\r\n`;
    // Node's codec knows a list of methods.
    const methods: typeof cases = [
      ["a method of more than 64 octets", withMethod(65), codec === "native" ? "200" : "501"],
      ["a method as long as a target may be", withMethod(100), codec === "native" ? "200" : "501"],
      ["a method that is longer than a target may be", withMethod(101), codec === "native" ? "414" : "501"],
    ];
    for (const [name, request, status] of [...cases, ...methods]) {
      it(`a request with ${name} gets ${status}`, async () => {
        const { connect, heads, events } = await startRecording(small);
        const client = await connect();
        client.send(request);
        if (status === "200") {
          expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
          return;
        }
        expect(statusesOf(await client.untilEnd())).to.deep.equal([status]);
        expect(heads).to.have.length(0);
        expect(events.map((event) => event.status)).to.deep.equal([Number(status)]);
      });
    }

    it("the default limits answer long targets with 414 and large or many fields with 431", async () => {
      const { connect } = await startRecording();
      for (const [request, status] of [
        [`GET ${target(16_385)} HTTP/1.1\r\nHost: a\r\n\r\n`, "414"],
        [`GET ${target(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, "414"],
        [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"v".repeat(65_530)}\r\n\r\n`, "431"],
        [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"v".repeat(120_000)}\r\n\r\n`, "431"],
        [`GET / HTTP/1.1\r\nHost: a\r\n${fields(100)}\r\n`, "431"],
      ] as const) {
        const client = await connect();
        client.send(request);
        expect(statusesOf(await client.untilEnd()), request.slice(0, 40)).to.deep.equal([status]);
      }
    });
  });

  it("a rejected head gets the same kind of error response as other errors of the proxy", async () => {
    const { connect } = await startRecording({ maxUriBytes: 10 });
    const client = await connect();
    client.send("GET /longer-than-that HTTP/1.1\r\nHost: a\r\n\r\n");
    const text = await client.untilEnd();
    expect(text).to.match(/\r\nContent-Type: text\/plain\r\n/);
    expect(text).to.match(/\r\nCache-Control: no-store\r\n/);
    expect(text).to.match(/\r\nConnection: close\r\n/);
    expect(text).to.match(/\r\nDate: [^\r]+ GMT\r\n/);
    expect(text).not.to.match(/\r\nServer:/i);
    expect(bodyOf(text)).to.equal("414 URI Too Long\n");
  });

  it("the response to a rejected HEAD request has no body", async () => {
    const { connect } = await startRecording({ maxUriBytes: 10 });
    const client = await connect();
    client.send("HEAD /longer-than-that HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(bodyOf(await client.untilEnd())).to.equal("");
  });
});
