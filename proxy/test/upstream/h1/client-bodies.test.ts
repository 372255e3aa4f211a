import { mock } from "node:test";
import { expect } from "chai";
import { describeSocketLayers } from "../../socket-layers.ts";
import { answering, ManualBody, RawServer, Recorder, until } from "../support.ts";
import { benchForEach, ok } from "./harness.ts";
import { mockTimers } from "../../mock-timers.ts";

describeSocketLayers("the HTTP/1.1 upstream client: request bodies", () => {
  const { send, start } = benchForEach();

  /** A request whose body has been started, of this length. */
  const startBody = async (length: number | undefined) => {
    const server = await start(RawServer.start());
    const body = new ManualBody(length);
    const { recorder } = send(server.endpoint, { method: "POST", body });
    const peer = await server.peer(0);
    await until(() => body.started);
    return { server, body, recorder, peer };
  };

  describe("a request body", () => {
    it("a request body that is available at once is sent with the head in one write", async () => {
      const server = await start(answering(ok));
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

    it("a request body is not started before a connection is established", async () => {
      const server = await start(answering(ok));
      const body = new ManualBody(undefined, (self) => self.end());
      const { recorder } = send(server.endpoint, { method: "POST", body });
      expect(body.started).to.equal(false);
      await recorder.done;
      expect(body.started).to.equal(true);
    });

    it("a request body of known length has Content-Length, from text and buffers of any size", async () => {
      const server = await start(RawServer.start());
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

    it("a request body of unknown length is chunked, with its trailers", async () => {
      const { body, recorder, peer } = await startBody(undefined);
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
      it(`a request body that ${name} ends the connection`, async () => {
        const { body, recorder, peer } = await startBody(5);
        act(body);
        await recorder.done;
        expect(recorder.error).to.deep.equal({ kind: "request-body", text, requestSent: true });
        await until(() => peer.closed);
      });
    }

    it("a request body is complete with its last byte, even when its source aborts afterwards", async () => {
      const { server, body, recorder, peer } = await startBody(4);
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

    it("a request body that aborts at once is reported after send has returned", async () => {
      const server = await start(answering(ok));
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
    it("an early complete response is delivered, the body stops and the connection closes", async () => {
      const { body, recorder, peer } = await startBody(100);
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

    it("an early response and the request body continue side by side while the upstream wants both", async () => {
      const { body, recorder, peer } = await startBody(undefined);
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

    it("an early response with Connection: close stops the request body at once", async () => {
      const { body, recorder, peer } = await startBody(undefined);
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
    mockTimers();

    const expecting = async () => {
      const server = await start(RawServer.start());
      const body = new ManualBody(4, (self) => {
        self.push("body");
        self.end();
      });
      const { recorder } = send(server.endpoint, { method: "PUT", body, expectContinue: true });
      const peer = await server.peer(0);
      await peer.until("Expect: 100-continue\r\n");
      return { body, recorder, peer };
    };

    it("Expect: 100-continue holds the body back until the 100, which is relayed", async () => {
      const { body, recorder, peer } = await expecting();
      expect(body.started).to.equal(false);
      peer.write("HTTP/1.1 100 Continue\r\n\r\n");
      await peer.until("\r\n\r\nbody");
      expect(recorder.informational).to.deep.equal([[100, []]]);
      peer.write(ok);
      await recorder.done;
      expect(recorder.text).to.equal("ok");
    });

    it("a final head that keeps the connection open starts a body that waits for 100 Continue", async () => {
      const { recorder, peer } = await expecting();
      peer.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
      await peer.until("\r\n\r\nbody");
      peer.write("ok");
      await recorder.done;
      expect(recorder.text).to.equal("ok");
    });

    it("a final head with Connection: close never starts a body that waits for 100 Continue", async () => {
      const { body, recorder, peer } = await expecting();
      peer.write("HTTP/1.1 403 x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      await recorder.done;
      expect([recorder.head?.status, body.started]).to.deep.equal([403, false]);
    });

    it("a body that waits for 100 Continue starts after one second without an answer", async () => {
      const { recorder, peer } = await expecting();
      mock.timers.tick(1_000);
      await peer.until("\r\n\r\nbody");
      expect(recorder.informational).to.deep.equal([]);
      peer.write(ok);
      await recorder.done;
    });
  });
});
