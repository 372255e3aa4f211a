import { expect } from "chai";
import { readEnd } from "../../end-reader.ts";
import { describeSocketLayers } from "../../socket-layers.ts";
import { answering, RawServer, Recorder, until } from "../support.ts";
import { benchForEach, ok } from "./harness.ts";
import { Fields } from "../../../src/message/fields.ts";

describeSocketLayers("the HTTP/1.1 upstream client", () => {
  const bench = benchForEach();
  const { send, start } = bench;

  it("the HTTP/1.1 client sends a request and relays the response", async () => {
    const server = await start(
      answering("HTTP/1.1 201 Created\r\nA: b\r\nConnection: x\r\nX: y\r\nContent-Length: 2\r\n\r\nok"),
    );
    const { recorder } = send(server.endpoint, {
      target: "/path?query",
      headers: Fields.of(["Accept", "*/*"]),
    });
    await recorder.done;
    expect(server.peers[0]?.received).to.equal(
      "GET /path?query HTTP/1.1\r\nHost: example.com\r\nAccept: */*\r\n\r\n",
    );
    expect(recorder.head).to.deep.include({
      status: 201,
      headers: ["A", "b", "Content-Length", "2"],
      length: 2,
      bodyless: false,
    });
    expect([recorder.text, recorder.ends, recorder.reused]).to.deep.equal(["ok", ["end"], [false]]);
  });

  it("the HTTP/1.1 client delivers a small message whole and as text, in one turn", async () => {
    const server = await start(answering(ok));
    const recorder = new Recorder();
    let sameTurn = false;
    recorder.onHead = () => queueMicrotask(() => (sameTurn = recorder.ends.length === 1));
    send(server.endpoint, {}, recorder);
    await recorder.done;
    await until(() => sameTurn);
    expect(recorder.pieces).to.deep.equal(["ok"]);
  });

  it("the HTTP/1.1 client reuses a connection for later requests", async () => {
    const server = await start(answering(ok));
    const reused: boolean[] = [];
    for (let i = 0; i < 5; i++) {
      const { recorder } = send(server.endpoint);
      await recorder.done;
      reused.push(...recorder.reused);
    }
    expect(reused).to.deep.equal([false, true, true, true, true]);
    expect(server.peers).to.have.length(1);
  });

  it("the HTTP/1.1 client reuses a connection for a request that is sent from the onEnd of the one before", async () => {
    const server = await start(answering(ok));
    const { endpoint } = server;
    const first = new Recorder();
    const second = new Recorder();
    first.onEnd = () => void send(endpoint, {}, second);
    send(endpoint, {}, first);
    await second.done;
    expect([second.reused, second.text, server.peers.length]).to.deep.equal([[true], "ok", 1]);
  });

  it("the HTTP/1.1 client prefers the connection that was used last", async () => {
    const server = await start(RawServer.start());
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
    it(`the HTTP/1.1 client closes a connection whose upstream ${name}`, async () => {
      const server = await start(answering(head));
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

  it("the HTTP/1.1 client keeps an HTTP/1.0 connection with Connection: keep-alive", async () => {
    const server = await start(
      answering("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"),
    );
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
    it(`the HTTP/1.1 client expects no body when ${method} is answered by ${JSON.stringify(response)}`, async () => {
      const server = await start(answering(response));
      for (const reused of [false, true]) {
        const { recorder } = send(server.endpoint, { method });
        await recorder.done;
        expect([recorder.head?.bodyless, recorder.text, recorder.ends]).to.deep.equal([true, "", ["end"]]);
        expect(recorder.reused).to.deep.equal([reused]);
      }
    });
  }

  it("the HTTP/1.1 client relays informational heads", async () => {
    const server = await start(
      answering(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: x\r\n\r\n${ok}`),
    );
    const { recorder } = send(server.endpoint);
    await recorder.done;
    expect(recorder.informational).to.deep.equal([[103, ["Link", "</a>"]]]);
    expect(recorder.text).to.equal("ok");
  });

  it("the HTTP/1.1 client relays a chunked response with trailers, and a body that ends with the connection", async () => {
    const server = await start(
      answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\nSum: 1\r\n\r\n"),
    );
    const { recorder } = send(server.endpoint);
    await recorder.done;
    expect([recorder.text, recorder.trailers]).to.deep.equal(["ok", ["Sum", "1"]]);
    expect(recorder.head).to.deep.include({
      status: 200,
      headers: [],
      length: undefined,
      bodyless: false,
    });

    const other = await start(RawServer.start());
    const second = send(other.endpoint);
    const peer = await other.peer(0);
    peer.write("HTTP/1.1 200 OK\r\n\r\nall of it");
    peer.socket.end();
    await second.recorder.done;
    expect([second.recorder.text, second.recorder.ends]).to.deep.equal(["all of it", ["end"]]);
  });

  describe("large response bodies", () => {
    const size = 3_000_000;
    const bytes = Buffer.alloc(size, "0123456789abcdefghijklmnopqrstu");

    for (const framing of ["length", "chunked", "close"]) {
      for (const reports of [true, false]) {
        it(`a large response body arrives unchanged (${framing}), ${reports ? "when the receiver reports that it holds nothing" : "held whole"}`, async () => {
          const server = await start(
            RawServer.start((peer) => {
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
            }),
          );
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

  describe("upgrades", () => {
    const upgrade = { upgrade: "websocket", headers: Fields.of(["Sec-WebSocket-Key", "k"]) };

    it("an upgrade hands the connection over with the bytes that followed the head", async () => {
      const server = await start(RawServer.start());
      const { recorder } = send(server.endpoint, upgrade);
      const peer = await server.peer(0);
      await peer.until("Connection: upgrade\r\nUpgrade: websocket\r\n\r\n");
      peer.write("HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nA: b\r\n\r\nfirst");
      await recorder.done;
      const { upgraded } = recorder;
      if (upgraded === undefined) throw new Error("no upgrade");
      expect(upgraded.headers).to.deep.equal(["A", "b"]);
      expect(upgraded.head.toString()).to.equal("first");

      const { transport } = upgraded;
      const received = readEnd(transport);
      peer.write("second");
      await until(() => received.text === "second");
      // The client and its pool have nothing to do with it any more.
      bench.client.close();
      transport.writeText("third");
      await peer.until("third");
      peer.socket.end();
      await until(() => received.hasEnded);
      expect(transport.ended).to.equal(true);
      transport.writeText("fourth");
      transport.end();
      await peer.until("fourth");
      expect(recorder.ends).to.deep.equal(["upgrade"]);
    });

    it("a declined upgrade is an ordinary response on a connection that is not kept", async () => {
      const server = await start(answering("HTTP/1.1 403 x\r\nContent-Length: 2\r\n\r\nno"));
      const { recorder } = send(server.endpoint, upgrade);
      await recorder.done;
      expect([recorder.head?.status, recorder.text, recorder.ends]).to.deep.equal([403, "no", ["end"]]);
      const [peer] = server.peers;
      await until(() => peer?.closed === true);
    });

    it("an upgrade never uses a pooled connection", async () => {
      const server = await start(answering(ok));
      await send(server.endpoint).recorder.done;
      const { recorder } = send(server.endpoint, upgrade);
      await recorder.done;
      expect(recorder.reused).to.deep.equal([false]);
    });
  });

  describe("abort()", () => {
    it("abort() ends a request that waits for its connection", async () => {
      const server = await start(RawServer.start());
      const { recorder, stream } = send(server.endpoint);
      stream.abort();
      const next = send(server.endpoint);
      const peer = await server.peer(0);
      await until(() => server.peers.some(({ received }) => received !== ""));
      expect([recorder.reused, recorder.ends]).to.deep.equal([[], []]);
      next.stream.abort();
      peer.socket.destroy();
    });

    for (const [name, sent] of [
      ["before the response", ""],
      ["in its head", "HTTP/1.1 200"],
      ["in its body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"],
    ] as const) {
      it(`abort() destroys the connection ${name}`, async () => {
        const server = await start(RawServer.start());
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

    it("an abort from onHead stops every later event", async () => {
      const server = await start(answering(ok));
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

    it("an abort after the end does not affect the next request on the connection", async () => {
      const server = await start(answering(ok));
      const first = send(server.endpoint);
      await first.recorder.done;
      const second = send(server.endpoint);
      first.stream.abort();
      first.stream.resume();
      await second.recorder.done;
      expect([second.recorder.reused, second.recorder.ends]).to.deep.equal([[true], ["end"]]);
    });
  });

  it("the HTTP/1.1 client rejects a malformed request head, after send has returned", async () => {
    const server = await start(answering(ok));
    const { recorder } = send(server.endpoint, { headers: Fields.of(["A", "b\r\nC: d"]) });
    expect(recorder.ends).to.deep.equal([]);
    await recorder.done;
    expect(recorder.error).to.deep.equal({
      kind: "invalid",
      text: "invalid request head",
      requestSent: false,
    });
    expect(server.peers).to.have.length(0);
  });

  it("close() ends requests in flight", async () => {
    const server = await start(RawServer.start());
    const waiting = send(server.endpoint);
    const peer = await server.peer(0);
    await peer.until("\r\n\r\n");
    bench.client.close();
    await waiting.recorder.done;
    expect(waiting.recorder.error?.kind).to.equal("reset");
    await until(() => peer.closed);
  });
});
