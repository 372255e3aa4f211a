import type { Socket } from "node:net";
import { expect } from "chai";
import { takenBytes } from "../../../src/http/taken-bytes.ts";
import { Fields } from "../../../src/message/fields.ts";
import type { ClientStream } from "../../../src/message/message.ts";
import { holdClock } from "../held-clock.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import {
  answer,
  bodyOf,
  eventually,
  type RawClient,
  request,
  startAnswering,
  startFront,
  startManual,
  statusesOf,
  stopAll,
} from "./harness.ts";

describeCodecs("the HTTP/1 front: connections", (codec) => {
  afterEach(stopAll);

  describe("pipelining", () => {
    it("the HTTP/1 front answers pipelined requests in order, one at a time", async () => {
      const { connect, streams } = await startManual();
      const client = await connect();
      client.send(request("/1") + request("/2") + request("/3"));
      for (let i = 0; i < 3; i++) {
        await eventually(() => streams.length > i);
        expect(streams).to.have.length(i + 1);
        answer(streams[i] as ClientStream, `answer-${i + 1}`);
      }
      const text = await client.until(/answer-3/);
      expect(text.match(/answer-\d/g)).to.deep.equal(["answer-1", "answer-2", "answer-3"]);
    });

    it("the HTTP/1 front answers every request of a long pipeline", async () => {
      const { connect, events } = await startAnswering();
      const client = await connect();
      const count = 5000;
      client.send(Array.from({ length: count }, (_, i) => request(`/${i}`)).join(""));
      await client.until(/\/4999$/);
      expect(statusesOf(client.text)).to.have.length(count);
      expect(client.text.match(/\r\n\r\n\/\d+/g)?.map((path) => Number(path.slice(5)))).to.deep.equal(
        Array.from({ length: count }, (_, i) => i),
      );
      expect(events).to.deep.equal([]);
    });

    if (codec === "node") endsConnectionsOverTheMemory();
    else holdsWhatWaits();

    it("the HTTP/1 front does not start the next request while the client does not read the last response", async () => {
      const big = "x".repeat(20_000_000);
      const { connect, streams } = await startManual();
      const client = await connect();
      client.socket.pause();
      client.send(request("/1") + request("/2"));
      await eventually(() => streams.length === 1);
      answer(streams[0] as ClientStream, big);
      await new Promise((resolve) => setImmediate(resolve));
      expect(streams).to.have.length(1);
      client.socket.resume();
      await eventually(() => streams.length === 2);
    });
  });

  describe("the number of requests", () => {
    it("the last response that a connection may get carries Connection: close", async () => {
      const { connect, events } = await startAnswering({ maxRequestsPerConnection: 3 });
      const client = await connect();
      client.send(request("/1") + request("/2") + request("/3") + request("/4"));
      const text = await client.untilEnd();
      expect(statusesOf(text)).to.deep.equal(["200", "200", "200"]);
      expect(text).to.match(/\/2HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*\/3$/);
      expect(text.match(/Connection: close/g)).to.have.length(1);
      expect(events.map((event) => event.reason)).to.deep.equal(["requests-per-connection"]);
    });
  });

  it("a response to a client that does not read is paused, and resumes when the client reads", async () => {
    const total = 300;
    let written = 0;
    const { connect, sockets } = await startFront((_, _head, stream) => {
      const pump = (): void => {
        while (written < total) {
          written++;
          if (!stream.write(Buffer.alloc(65_536, "x"))) return;
        }
        stream.onDrain = null;
        stream.end(undefined);
      };
      stream.sendHead({ status: 200, headers: Fields.of([]), length: total * 65_536, bodyless: false });
      stream.onDrain = pump;
      pump();
    });
    const client = await connect();
    client.socket.pause();
    client.send(request("/"));
    await eventually(() => written > 0);
    let last = -1;
    while (written !== last) {
      last = written;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const takenOfAll = takenBytes(sockets[0] as Socket);
    expect(last).to.be.below(total);
    client.socket.resume();
    await client.until(/x$/);
    await eventually(() => bodyOf(client.text).length === total * 65_536);
    // The system may have taken all but a few bytes, fewer than the head has.
    const headBytes = client.text.length - total * 65_536;
    expect(headBytes + last * 65_536 - takenOfAll).to.be.within(1, 256 * 1024);
  });

  describe("a client that ends its side", () => {
    const clock = holdClock();

    it("a client that has ended its side still gets its response, and then the end", async () => {
      const { connect, streams, sockets } = await startManual();
      const client = await connect();
      client.socket.end(request("/1"));
      await eventually(() => streams.length === 1 && sockets[0]?.readableEnded === true);
      answer(streams[0] as ClientStream);
      expect(await client.untilEnd()).to.match(/^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*hello$/);
    });

    it("a client that has ended its side gets all responses of its pipeline", async () => {
      const { connect } = await startAnswering();
      const client = await connect();
      client.socket.end(request("/1") + request("/2"));
      expect(statusesOf(await client.untilEnd())).to.deep.equal(["200", "200"]);
    });

    it("the connection of a client that ends its side between requests is closed", async () => {
      const { connect, front } = await startAnswering();
      const client = await connect();
      client.send(request("/1"));
      await client.until(/\/1$/);
      client.socket.end();
      await client.untilEnd();
      await eventually(() => front.connections === 0);
    });

    it("a client that ends its side inside a request head gets 400", async () => {
      const { connect } = await startAnswering();
      const client = await connect();
      client.socket.end("GET / HTTP/1.1\r\nHost");
      expect(statusesOf(await client.untilEnd())).to.deep.equal(["400"]);
    });

    it("the HTTP/1 front detects a client that has disconnected while its request waits", async () => {
      const { connect, streams, front } = await startManual({ bodyTimeoutMs: 40 });
      const reasons: string[] = [];
      const client = await connect();
      client.send(request("/1"));
      await eventually(() => streams.length === 1);
      (streams[0] as ClientStream).onClose = (reason) => reasons.push(reason);
      client.socket.destroy();
      await clock.passing(eventually(() => front.connections === 0));
      expect(reasons).to.deep.equal(["client-closed"]);
    });

    it("a client that disconnects before its response is found by the second probe, 250 ms after the first", async () => {
      const { connect, streams, front, sockets, swept } = await startManual({ bodyTimeoutMs: 40 });
      const reasons: string[] = [];
      const client = await connect();
      client.send(request("/1"));
      await eventually(() => streams.length === 1);
      const [stream] = streams as [ClientStream];
      stream.onClose = (reason) => reasons.push(reason);
      const taken = sockets[0] as Socket;
      const written = takenBytes(taken);
      client.socket.destroy();
      while (takenBytes(taken) === written) {
        clock.advance(10);
        await swept();
      }
      expect(front.connections).to.equal(1);
      clock.advance(250);
      await eventually(() => front.connections === 0);
      expect(reasons).to.deep.equal(["client-closed"]);
    });

    it("a client that has ended its side is probed with interim responses, which precede its response", async () => {
      const { connect, streams } = await startManual({ bodyTimeoutMs: 40 });
      const client = await connect();
      client.socket.end(request("/1"));
      await clock.passing(client.until(/100 Continue\r\n\r\n/));
      answer(streams[0] as ClientStream);
      const text = await client.untilEnd();
      expect(statusesOf(text).at(-1)).to.equal("200");
      expect(text).to.match(/hello$/);
    });
  });

  describe("a client that resets the connection", () => {
    it("a client that resets the connection ends its request at once", async () => {
      const { connect, streams, front } = await startManual();
      const reasons: string[] = [];
      const client = await connect();
      client.send(request("/1"));
      await eventually(() => streams.length === 1);
      (streams[0] as ClientStream).onClose = (reason) => reasons.push(reason);
      client.socket.resetAndDestroy();
      await eventually(() => front.connections === 0);
      expect(reasons).to.deep.equal(["client-closed"]);
      expect(streams[0]?.write("x")).to.equal(false);
    });
  });

  describe("draining", () => {
    it("a drain closes idle connections at once and busy ones after their response", async () => {
      const { connect, streams, front } = await startManual();
      const idle = await connect();
      const used = await connect();
      const busy = await connect();
      used.send(request("/used"));
      await eventually(() => streams.length === 1);
      answer(streams[0] as ClientStream);
      await used.until(/hello$/);
      busy.send(request("/busy"));
      await eventually(() => streams.length === 2 && front.connections === 3);
      front.drain();
      expect(await idle.untilEnd()).to.equal("");
      expect(await used.untilEnd()).to.match(/hello$/);
      expect(busy.ended).to.equal(false);
      answer(streams[1] as ClientStream);
      expect(await busy.untilEnd()).to.match(/Connection: close\r\n[^]*hello$/);
    });

    it("a request whose head has begun is still answered during a drain", async () => {
      const { connect, front, sockets } = await startAnswering();
      const client = await connect();
      client.send("GET /begun HTTP/1.1\r\n");
      await eventually(() => (sockets[0]?.bytesRead ?? 0) > 0);
      front.drain();
      client.send("Host: a\r\n\r\n");
      expect(await client.untilEnd()).to.match(/Connection: close\r\n[^]*\/begun$/);
    });

    it("a connection that is opened during a drain and sends nothing is closed", async () => {
      const { connect, front } = await startAnswering();
      front.drain();
      const client = await connect();
      expect(await client.untilEnd()).to.equal("");
    });

    it("a draining listener sends Connection: close with responses and keeps idle connections open", async () => {
      const { connect, listener } = await startAnswering();
      const client = await connect();
      const idle = await connect();
      listener.draining = true;
      client.send(request("/1"));
      expect(await client.untilEnd()).to.match(/Connection: close\r\n/);
      idle.send(request("/2"));
      expect(await idle.untilEnd()).to.match(/Connection: close\r\n/);
    });

    it("the HTTP/1 front closes every connection when it is destroyed, and counts the requests that it cut", async () => {
      const { connect, streams, front } = await startManual();
      const reasons: string[] = [];
      const clients = [await connect(), await connect(), await connect()];
      clients[0]?.send(request("/1"));
      clients[1]?.send(request("/2"));
      await eventually(() => streams.length === 2 && front.connections === 3);
      for (const stream of streams) stream.onClose = (reason) => reasons.push(reason);
      expect(front.destroy()).to.equal(2);
      expect(reasons).to.deep.equal(["shutdown", "shutdown"]);
      for (const client of clients) await client.untilEnd();
      await eventually(() => front.connections === 0);
    });
  });

  it("a handler that throws closes its own connection and no other", async () => {
    const { connect, events } = await startFront((_, head, client) => {
      if (head.target === "/bug") throw new Error("a bug");
      answer(client);
    });
    const other = await connect();
    const client = await connect();
    client.send(request("/bug"));
    expect(await client.untilEnd()).to.equal("");
    other.send(request("/fine"));
    await other.until(/hello$/);
    expect(events.map((event) => event.reason)).to.deep.equal(["handler-failed"]);
  });
});

/** Node's codec parses everything that arrives, so a single connection can fill the memory of waiting requests. */
function endsConnectionsOverTheMemory(): void {
  it("a connection whose pipelined requests would fill the memory is closed", async () => {
    const { connect, events, front } = await startManual({ maxRequestsPerConnection: 0 });
    const client = await connect();
    client.send(request("/").repeat(40_000));
    await eventually(() => events.length > 0);
    expect(events.map((event) => event.reason)).to.deep.equal(["pipelining"]);
    await eventually(() => front.connections === 0);
    const other = await connect();
    other.send(request("/1") + request("/2"));
    await eventually(() => front.connections === 1);
    expect(events).to.have.length(1);
  });

  const large: readonly [name: string, request: string][] = [
    ["heads", `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(60_000)}\r\n\r\n`],
    ["bodies", `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n${"x".repeat(60_000)}`],
    ["chunked bodies", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ];
  for (const [name, text] of large) {
    it(`a connection with pipelined requests that have large ${name} is closed earlier`, async () => {
      const { connect, events, front } = await startManual({ maxRequestsPerConnection: 0 });
      const client = await connect();
      client.send(request("/") + text.repeat(1000));
      await eventually(() => events.length > 0);
      expect(events.map((event) => event.reason)).to.deep.equal(["pipelining"]);
      await eventually(() => front.connections === 0);
    });
  }
}

/** The native codec reads only 64 KiB ahead, so many connections are needed to fill the memory. */
function holdsWhatWaits(): void {
  it("the HTTP/1 front stops reading behind a request at its limit, and continues where it stopped", async () => {
    const { connect, streams, sockets, events } = await startManual({ maxRequestsPerConnection: 0 });
    const client = await connect();
    const count = 40_000;
    client.send(request("/first"));
    await eventually(() => streams.length === 1);
    client.send(request("/").repeat(count));
    await eventually(() => (sockets[0]?.bytesRead ?? 0) >= 65_536);
    let last = -1;
    while (sockets[0]?.bytesRead !== last) {
      last = sockets[0]?.bytesRead ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(last).to.be.within(65_536, 4 * 65_536);
    expect(streams).to.have.length(1);
    for (let i = 0; i <= count; i++) {
      if (streams.length <= i) await eventually(() => streams.length > i);
      answer(streams[i] as ClientStream, "");
    }
    await eventually(() => statusesOf(client.text).length === count + 1);
    expect(events).to.deep.equal([]);
  });

  it("a connection that exceeds the memory that all connections share for waiting bytes is closed", async () => {
    const { connect, streams, events, front } = await startManual();
    const ahead = "x".repeat(100_000);
    const clients: RawClient[] = [];
    while (events.length === 0) {
      const client = await connect();
      clients.push(client);
      client.send(request("/") + ahead);
      const wanted = clients.length;
      await eventually(() => streams.length === wanted || events.length > 0);
      await new Promise((resolve) => setImmediate(resolve));
      if (clients.length > 1000) break;
    }
    expect(events.map((event) => event.reason)).to.deep.equal(["pipelining"]);
    expect(clients.length).to.be.within(150, 500);
    await eventually(() => front.connections === clients.length - 1);
    answer(streams[0] as ClientStream);
    await eventually(() => statusesOf(clients[0]?.text ?? "").length === 2);
    const other = await connect();
    other.send(request("/1") + request("/2"));
    await eventually(() => streams.length > clients.length - 1);
    expect(events).to.have.length(2);
  });
}
