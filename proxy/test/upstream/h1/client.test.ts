import { mock } from "node:test";
import { expect } from "chai";
import { createHttp1UpstreamClient } from "../../../src/upstream/h1/client.ts";
import type { UpstreamClient, UpstreamEndpoint, UpstreamRequest } from "../../../src/upstream/upstream.ts";
import { answering, clientOptions, getRequest, ManualBody, RawServer, Recorder, until } from "../support.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

describe("the HTTP/1.1 upstream client", () => {
  let client: UpstreamClient;
  let server: RawServer | undefined;

  beforeEach(() => {
    client = createHttp1UpstreamClient(clientOptions());
  });
  afterEach(() => {
    client.close();
    server?.close();
    server = undefined;
  });

  const send = (
    endpoint: UpstreamEndpoint,
    overrides: Partial<UpstreamRequest> = {},
    recorder = new Recorder(),
  ) => {
    const stream = client.send(endpoint, getRequest(overrides), recorder);
    return { recorder, stream };
  };

  it("sends a request and relays the response", async () => {
    server = await answering(
      "HTTP/1.1 201 Created\r\nA: b\r\nConnection: x\r\nX: y\r\nContent-Length: 2\r\n\r\nok",
    );
    const { recorder } = send(server.endpoint, { target: "/path?query", headers: ["Accept", "*/*"] });
    await recorder.done;
    expect(server.peers[0]?.received).to.equal(
      "GET /path?query HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n\r\n",
    );
    expect(recorder.head).to.deep.equal({
      status: 201,
      headers: ["A", "b", "Content-Length", "2"],
      length: 2,
      bodyless: false,
    });
    expect([recorder.text, recorder.ends, recorder.reused]).to.deep.equal(["ok", ["end"], [false]]);
  });

  it("delivers a small message whole and as text, in one turn", async () => {
    server = await answering(ok);
    const recorder = new Recorder();
    let sameTurn = false;
    recorder.onHead = () => queueMicrotask(() => (sameTurn = recorder.ends.length === 1));
    send(server.endpoint, {}, recorder);
    await recorder.done;
    await until(() => sameTurn);
    expect(recorder.pieces).to.deep.equal(["ok"]);
  });

  it("uses a connection again", async () => {
    server = await answering(ok);
    const reused: boolean[] = [];
    for (let i = 0; i < 5; i++) {
      const { recorder } = send(server.endpoint);
      await recorder.done;
      reused.push(...recorder.reused);
    }
    expect(reused).to.deep.equal([false, true, true, true, true]);
    expect(server.peers).to.have.length(1);
  });

  it("uses it again for a request that is sent from within the end of the one before", async () => {
    server = await answering(ok);
    const { endpoint } = server;
    const first = new Recorder();
    const second = new Recorder();
    first.onEnd = () => void client.send(endpoint, getRequest(), second);
    send(endpoint, {}, first);
    await second.done;
    expect([second.reused, second.text, server.peers.length]).to.deep.equal([[true], "ok", 1]);
  });

  it("prefers the connection that was used last", async () => {
    server = await RawServer.start();
    const first = send(server.endpoint);
    const second = send(server.endpoint);
    const [a, b] = [await server.peer(0), await server.peer(1)];
    await a.until("\r\n\r\n");
    await b.until("\r\n\r\n");
    b.write(ok);
    await Promise.race([first.recorder.done, second.recorder.done]);
    a.write(ok);
    await Promise.all([first.recorder.done, second.recorder.done]);
    const third = send(server.endpoint);
    await until(() => a.heads === 2 || b.heads === 2);
    expect([a.heads, b.heads]).to.deep.equal([2, 1]);
    third.stream.abort();
  });

  for (const [name, head] of [
    ["says Connection: close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"],
    ["speaks HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"],
    ["sends more than the message", `${ok}HTTP/1.1 200 OK\r\nX-Injected: 1\r\nContent-Length: 0\r\n\r\n`],
  ] as const) {
    it(`closes a connection whose upstream ${name}`, async () => {
      server = await answering(head);
      const { recorder } = send(server.endpoint);
      await recorder.done;
      const [peer] = server.peers;
      await until(() => peer?.closed === true);
      const next = send(server.endpoint);
      await next.recorder.done;
      expect([recorder.text, next.recorder.text, next.recorder.reused]).to.deep.equal(["ok", "ok", [false]]);
      expect(next.recorder.head?.headers).to.not.include("X-Injected");
    });
  }

  it("keeps an HTTP/1.0 connection that asks for it", async () => {
    server = await answering("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
    await send(server.endpoint).recorder.done;
    const { recorder } = send(server.endpoint);
    await recorder.done;
    expect(recorder.reused).to.deep.equal([true]);
  });

  for (const [method, response] of [
    ["HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"],
    ["GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n"],
    ["GET", "HTTP/1.1 204 No Content\r\n\r\n"],
  ] as const) {
    it(`knows that ${method} is answered without a body by ${JSON.stringify(response)}`, async () => {
      server = await answering(response);
      for (const reused of [false, true]) {
        const { recorder } = send(server.endpoint, { method });
        await recorder.done;
        expect([recorder.head?.bodyless, recorder.text, recorder.ends]).to.deep.equal([true, "", ["end"]]);
        expect(recorder.reused).to.deep.equal([reused]);
      }
    });
  }

  it("relays informational heads", async () => {
    server = await answering(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\n\r\n${ok}`);
    const { recorder } = send(server.endpoint);
    await recorder.done;
    expect(recorder.informational).to.deep.equal([[103, ["Link", "</a>"]]]);
    expect(recorder.text).to.equal("ok");
  });

  it("relays a chunked response with its trailers, and a body that ends with the connection", async () => {
    server = await answering(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nSum: 1\r\n\r\n",
    );
    const { recorder } = send(server.endpoint);
    await recorder.done;
    expect([recorder.text, recorder.trailers]).to.deep.equal(["ok", ["Sum", "1"]]);
    expect(recorder.head).to.deep.equal({ status: 200, headers: [], length: undefined, bodyless: false });
    server.close();

    server = await RawServer.start();
    const second = send(server.endpoint);
    const peer = await server.peer(0);
    peer.write("HTTP/1.1 200 OK\r\n\r\nall of it");
    peer.socket.end();
    await second.recorder.done;
    expect([second.recorder.text, second.recorder.ends]).to.deep.equal(["all of it", ["end"]]);
  });

  describe("a large body", () => {
    const size = 3_000_000;
    const bytes = Buffer.alloc(size, "0123456789abcdefghijklmnopqrstu");

    for (const framing of ["length", "chunked", "close"]) {
      for (const reports of [true, false]) {
        it(`arrives unharmed (${framing}), ${reports ? "when the receiver says that it holds nothing" : "held whole"}`, async () => {
          server = await RawServer.start((peer) => {
            peer.onData = () => {
              peer.onData = undefined;
              const fields = {
                length: `Content-Length: ${size}\r\n`,
                chunked: "Transfer-Encoding: chunked\r\n",
                close: "",
              };
              peer.write(`HTTP/1.1 200 OK\r\n${fields[framing as keyof typeof fields]}\r\n`);
              if (framing !== "chunked") peer.socket.write(bytes);
              else {
                for (let at = 0, step = 1; at < size; at += step, step = (step * 7) % 70_001) {
                  const piece = bytes.subarray(at, at + step);
                  peer.write(`${piece.length.toString(16)}\r\n`);
                  peer.socket.write(piece);
                  peer.write("\r\n");
                }
                peer.write("0\r\n\r\n");
              }
              if (framing === "close") peer.socket.end();
            };
          });
          const recorder = new Recorder();
          const copied: Buffer[] = [];
          if (reports) {
            Object.defineProperty(recorder, "pendingBytes", { value: 0 });
            recorder.onData = (piece) => {
              copied.push(typeof piece === "string" ? Buffer.from(piece, "latin1") : Buffer.from(piece));
              return true;
            };
          }
          send(server.endpoint, {}, recorder);
          await recorder.done;
          expect(recorder.ends).to.deep.equal(["end"]);
          const received = reports
            ? Buffer.concat(copied)
            : Buffer.concat(recorder.pieces.map((piece) => Buffer.from(piece as string, "latin1")));
          expect(received.equals(bytes)).to.equal(true);
        });
      }
    }
  });

  describe("a request body", () => {
    it("leaves with the head in one write when it is at hand", async () => {
      server = await answering(ok);
      const pieces: string[] = [];
      const body = new ManualBody(5, (self) => {
        self.push("hello");
        self.end();
      });
      const { endpoint, peers } = server;
      const { recorder } = send(endpoint, { method: "POST", body });
      await until(() => peers.length === 1);
      peers[0]?.socket.on("data", (piece) => pieces.push(piece.toString()));
      await recorder.done;
      expect(pieces).to.deep.equal([
        "POST / HTTP/1.1\r\nHost: example.com\r\nContent-Length: 5\r\n\r\nhello",
      ]);
    });

    it("is not started before a connection is there", async () => {
      server = await answering(ok);
      const body = new ManualBody(undefined, (self) => self.end());
      const { recorder } = send(server.endpoint, { method: "POST", body });
      expect(body.started).to.equal(false);
      await recorder.done;
      expect(body.started).to.equal(true);
    });

    it("is framed by its length, from text and buffers of any size", async () => {
      server = await RawServer.start();
      const big = Buffer.alloc(100_000, "x");
      const body = new ManualBody(5 + big.length);
      const { recorder } = send(server.endpoint, { method: "PUT", body });
      const peer = await server.peer(0);
      await until(() => body.started);
      for (const piece of ["he", "", Buffer.from("llo"), Buffer.alloc(0), big]) body.push(piece);
      body.end(["Dropped", "trailer"]);
      const head = `PUT / HTTP/1.1\r\nHost: example.com\r\nContent-Length: ${body.length}\r\n\r\n`;
      await until(() => peer.received.length === head.length + 5 + big.length);
      expect(peer.received === `${head}hello${big.toString()}`).to.equal(true);
      peer.write(ok);
      await recorder.done;
      const next = send(server.endpoint);
      await until(() => peer.heads === 2);
      expect(next.recorder.reused).to.deep.equal([true]);
      next.stream.abort();
    });

    it("is chunked when its length is unknown", async () => {
      server = await RawServer.start();
      const body = new ManualBody(undefined);
      const { recorder } = send(server.endpoint, { method: "POST", body });
      const peer = await server.peer(0);
      await until(() => body.started);
      const big = Buffer.alloc(10_000, "x");
      for (const piece of ["hello", "", Buffer.from("\xe9", "latin1"), big]) body.push(piece);
      body.end(["Sum", "1"]);
      await peer.until("Sum: 1\r\n\r\n");
      expect(peer.received.split("\r\n\r\n").slice(1).join("\r\n\r\n")).to.equal(
        `5\r\nhello\r\n1\r\n\xe9\r\n2710\r\n${big.toString()}\r\n0\r\nSum: 1\r\n\r\n`,
      );
      peer.write(ok);
      await recorder.done;
    });

    for (const [name, act, text] of [
      [
        "is longer than declared",
        (body: ManualBody) => body.push("hello!"),
        "request body longer than declared",
      ],
      ["is shorter than declared", (body: ManualBody) => body.end(), "request body shorter than declared"],
      ["breaks off", (body: ManualBody) => body.abort("client-closed"), "client closed"],
    ] as const) {
      it(`ends the connection when it ${name}`, async () => {
        server = await RawServer.start();
        const body = new ManualBody(5);
        const { recorder } = send(server.endpoint, { method: "POST", body });
        const peer = await server.peer(0);
        await until(() => body.started);
        act(body);
        await recorder.done;
        expect(recorder.error).to.deep.equal({ kind: "request-body", text, requestSent: true });
        await until(() => peer.closed);
      });
    }

    it("is complete with its last byte, whatever its source says afterwards", async () => {
      server = await RawServer.start();
      const body = new ManualBody(4);
      const { recorder } = send(server.endpoint, { method: "POST", body });
      const peer = await server.peer(0);
      await until(() => body.started);
      body.push("body");
      body.abort("client-closed");
      await peer.until("body");
      peer.write(ok);
      await recorder.done;
      const next = send(server.endpoint);
      await until(() => peer.heads === 2);
      expect([recorder.ends, next.recorder.reused]).to.deep.equal([["end"], [true]]);
      next.stream.abort();
    });

    it("that breaks off at once is reported after send has returned", async () => {
      server = await answering(ok);
      await send(server.endpoint).recorder.done;
      const recorder = new Recorder();
      const body = new ManualBody(5, (self) => self.abort("malformed"));
      send(server.endpoint, { method: "POST", body }, recorder);
      expect(recorder.ends).to.deep.equal([]);
      await recorder.done;
      expect(recorder.error?.kind).to.equal("request-body");
    });
  });

  describe("an early response", () => {
    it("is delivered; then the body stops and the connection closes", async () => {
      server = await RawServer.start();
      const body = new ManualBody(100);
      const { recorder } = send(server.endpoint, { method: "POST", body });
      const peer = await server.peer(0);
      await until(() => body.started);
      body.push("part");
      await peer.until("part");
      peer.write(ok);
      await recorder.done;
      expect([recorder.text, recorder.ends]).to.deep.equal(["ok", ["end"]]);
      expect(body.push("more")).to.equal(false);
      body.abort("client-closed");
      await until(() => peer.closed);
      expect(peer.received.endsWith("part")).to.equal(true);
      expect(recorder.ends).to.deep.equal(["end"]);
    });

    it("goes on next to the body while the upstream wants both", async () => {
      server = await RawServer.start();
      const body = new ManualBody(undefined);
      const { recorder } = send(server.endpoint, { method: "POST", body });
      const peer = await server.peer(0);
      await until(() => body.started);
      body.push("a");
      peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n");
      await until(() => recorder.text === "A");
      body.push("b");
      await peer.until("1\r\nb\r\n");
      peer.write("1\r\nB\r\n");
      body.end();
      await peer.until("0\r\n\r\n");
      peer.write("0\r\n\r\n");
      await recorder.done;
      expect([recorder.text, recorder.ends]).to.deep.equal(["AB", ["end"]]);
    });

    it("that refuses and closes stops the body at once", async () => {
      server = await RawServer.start();
      const body = new ManualBody(undefined);
      const { recorder } = send(server.endpoint, { method: "POST", body });
      const peer = await server.peer(0);
      await until(() => body.started);
      body.push("a");
      await peer.until("1\r\na\r\n");
      peer.write("HTTP/1.1 413 x\r\nConnection: close\r\nContent-Length: 4\r\n\r\nto");
      await until(() => recorder.text === "to");
      expect(body.push("b")).to.equal(false);
      peer.write("o!");
      await recorder.done;
      expect([recorder.text, recorder.ends]).to.deep.equal(["too!", ["end"]]);
      expect(peer.received.endsWith("1\r\na\r\n")).to.equal(true);
    });
  });

  describe("Expect: 100-continue", () => {
    // The while after which a body is started without an answer passes when a test says so.
    beforeEach(() => mock.timers.enable({ apis: ["setTimeout"] }));
    afterEach(() => mock.timers.reset());

    const expecting = async () => {
      server = await RawServer.start();
      const body = new ManualBody(4, (self) => {
        self.push("body");
        self.end();
      });
      const { recorder } = send(server.endpoint, { method: "PUT", body, expectContinue: true });
      const peer = await server.peer(0);
      await peer.until("Expect: 100-continue\r\n");
      return { body, recorder, peer };
    };

    it("holds the body back until the 100, which is relayed", async () => {
      const { body, recorder, peer } = await expecting();
      expect(body.started).to.equal(false);
      peer.write("HTTP/1.1 100 Continue\r\n\r\n");
      await peer.until("\r\n\r\nbody");
      expect(recorder.informational).to.deep.equal([[100, []]]);
      peer.write(ok);
      await recorder.done;
      expect(recorder.text).to.equal("ok");
    });

    it("starts the body on a final head that leaves the connection open", async () => {
      const { recorder, peer } = await expecting();
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
      await peer.until("\r\n\r\nbody");
      peer.write("ok");
      await recorder.done;
      expect(recorder.text).to.equal("ok");
    });

    it("never starts it when the answer refuses and closes", async () => {
      const { body, recorder, peer } = await expecting();
      peer.write("HTTP/1.1 403 x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      await recorder.done;
      expect([recorder.head?.status, body.started]).to.deep.equal([403, false]);
    });

    it("starts it after a while without an answer", async () => {
      const { recorder, peer } = await expecting();
      mock.timers.tick(1_000);
      await peer.until("\r\n\r\nbody");
      expect(recorder.informational).to.deep.equal([]);
      peer.write(ok);
      await recorder.done;
    });
  });

  describe("an upgrade", () => {
    const upgrade = { upgrade: "websocket", headers: ["Sec-WebSocket-Key", "k"] };

    it("hands the connection over with what followed the head", async () => {
      server = await RawServer.start();
      const { recorder } = send(server.endpoint, upgrade);
      const peer = await server.peer(0);
      await peer.until("Connection: upgrade\r\nUpgrade: websocket\r\n\r\n");
      peer.write("HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nA: b\r\n\r\nfirst");
      await recorder.done;
      const { upgraded } = recorder;
      if (upgraded === undefined) throw new Error("no upgrade");
      expect(upgraded.headers).to.deep.equal(["A", "b"]);
      expect(upgraded.head.toString()).to.equal("first");

      let received = "";
      upgraded.socket.on("data", (piece: Buffer) => (received += piece.toString())).resume();
      peer.write("second");
      await until(() => received === "second");
      // The client and its pool have nothing to do with it any more.
      client.close();
      upgraded.socket.write("third");
      await peer.until("third");
      peer.socket.end();
      await until(() => upgraded.socket.readableEnded);
      upgraded.socket.end("fourth");
      await peer.until("fourth");
      expect(recorder.ends).to.deep.equal(["upgrade"]);
    });

    it("that is declined is an ordinary response on a connection that is not kept", async () => {
      server = await answering("HTTP/1.1 403 x\r\nContent-Length: 2\r\n\r\nno");
      const { recorder } = send(server.endpoint, upgrade);
      await recorder.done;
      expect([recorder.head?.status, recorder.text, recorder.ends]).to.deep.equal([403, "no", ["end"]]);
      const [peer] = server.peers;
      await until(() => peer?.closed === true);
    });

    it("never takes a pooled connection", async () => {
      server = await answering(ok);
      await send(server.endpoint).recorder.done;
      const { recorder } = send(server.endpoint, upgrade);
      await recorder.done;
      expect(recorder.reused).to.deep.equal([false]);
    });
  });

  describe("abort", () => {
    it("ends a request that waits for its connection", async () => {
      server = await RawServer.start();
      const { recorder, stream } = send(server.endpoint);
      stream.abort();
      const next = send(server.endpoint);
      const peer = await server.peer(0);
      await until(() => server?.peers.some(({ received }) => received !== "") === true);
      expect([recorder.reused, recorder.ends]).to.deep.equal([[], []]);
      next.stream.abort();
      peer.socket.destroy();
    });

    for (const [name, sent] of [
      ["before the response", ""],
      ["in its head", "HTTP/1.1 200"],
      ["in its body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"],
    ] as const) {
      it(`destroys the connection ${name}`, async () => {
        server = await RawServer.start();
        const { recorder, stream } = send(server.endpoint);
        const peer = await server.peer(0);
        await peer.until("\r\n\r\n");
        peer.write(sent);
        if (name === "in its body") await until(() => recorder.text === "ok");
        stream.abort();
        await until(() => peer.closed);
        expect(recorder.ends).to.deep.equal([]);
      });
    }

    it("from within onHead stops everything", async () => {
      server = await answering(ok);
      const recorder = new Recorder();
      const { stream } = send(server.endpoint, {}, recorder);
      let heads = 0;
      recorder.onHead = () => {
        heads++;
        stream.abort();
      };
      const peer = await server.peer(0);
      await until(() => peer.closed);
      expect([heads, recorder.text, recorder.ends]).to.deep.equal([1, "", []]);
    });

    it("after the end leaves the connection to others", async () => {
      server = await answering(ok);
      const first = send(server.endpoint);
      await first.recorder.done;
      const second = send(server.endpoint);
      first.stream.abort();
      first.stream.resume();
      await second.recorder.done;
      expect([second.recorder.reused, second.recorder.ends]).to.deep.equal([[true], ["end"]]);
    });
  });

  it("refuses to send a head that is not well formed, after send has returned", async () => {
    server = await answering(ok);
    const { recorder } = send(server.endpoint, { headers: ["A", "b\r\nC: d"] });
    expect(recorder.ends).to.deep.equal([]);
    await recorder.done;
    expect(recorder.error).to.deep.equal({
      kind: "invalid",
      text: "invalid request head",
      requestSent: false,
    });
    expect(server.peers).to.have.length(0);
  });

  it("close ends requests in flight", async () => {
    server = await RawServer.start();
    const waiting = send(server.endpoint);
    const peer = await server.peer(0);
    await peer.until("\r\n\r\n");
    client.close();
    await waiting.recorder.done;
    expect(waiting.recorder.error?.kind).to.equal("reset");
    await until(() => peer.closed);
  });
});
