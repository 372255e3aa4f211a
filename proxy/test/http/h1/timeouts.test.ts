import { expect } from "chai";
import { Fields } from "../../../src/message/fields.ts";
import type { ClientStream } from "../../../src/message/message.ts";
import { holdClock } from "../held-clock.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import type { FrontLimits } from "../../../src/http/front.ts";
import {
  answer,
  bodyOf,
  eventually,
  type FrontOptions,
  request,
  startAnswering,
  startManual,
  statusesOf,
  stopAll,
} from "./harness.ts";

describeCodecs("the HTTP/1 front: timeouts", (codec) => {
  const clock = holdClock();
  afterEach(stopAll);

  it("a request head that does not end gets 408", async () => {
    const started = await startAnswering({ headerTimeoutMs: 60 });
    const client = await started.connect();
    const begun = "GET / HTTP/1.1\r\nHost: a\r\n";
    client.send(begun);
    await eventually(() => started.sockets[0]?.bytesRead === begun.length);
    const text = await clock.passing(client.untilEnd());
    expect(statusesOf(text)).to.deep.equal(["408"]);
    expect(bodyOf(text)).to.equal("408 Request Timeout\n");
    expect(started.events.map((event) => event.reason)).to.deep.equal(["header-timeout"]);
    expect(started.events[0]?.durationMs).to.be.within(60, 10_000);
    expect(started.events[0]?.bytesSent).to.equal("408 Request Timeout\n".length);
    // Only the native codec has access to a part of a head.
    const headers = codec === "native" ? ["Host", "a"] : undefined;
    expect(started.events[0]?.head?.headers.toList()).to.deep.equal(headers);
  });

  it("a request that is refused after its head has arrived slowly has lasted from its first byte", async () => {
    const started = await startAnswering({ headerTimeoutMs: 60_000 }, { spentMs: 7 });
    const client = await started.connect();
    const begun = "GET / HTTP/1.1\r\n";
    client.send(begun);
    await eventually(() => started.sockets[0]?.bytesRead === begun.length);
    // Node's codec notices only in a sweep that a head has begun.
    await started.swept();
    clock.advance(30);
    client.send("Host: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
    expect(statusesOf(await client.untilEnd())).to.deep.equal(["400"]);
    expect(started.events.map(({ durationMs }) => durationMs)).to.deep.equal([37]);
  });

  it("a HEAD request whose head does not end gets 408", async () => {
    const { connect, sockets, events } = await startAnswering({ headerTimeoutMs: 60 });
    const client = await connect();
    const begun = "HEAD / HTTP/1.1\r\nHost";
    client.send(begun);
    await eventually(() => sockets[0]?.bytesRead === begun.length);
    const text = await clock.passing(client.untilEnd());
    expect(statusesOf(text)).to.deep.equal(["408"]);
    // Node's codec does not know the method.
    expect(bodyOf(text)).to.equal(codec === "native" ? "" : "408 Request Timeout\n");
    expect(events[0]?.bytesSent).to.equal(bodyOf(text).length);
  });

  it("the header timeout counts from the first byte, however slowly bytes trickle in", async () => {
    const { connect, sockets } = await startAnswering({ headerTimeoutMs: 120 });
    const client = await connect();
    client.send("GET / HTTP/1.1\r\n");
    await eventually(() => (sockets[0]?.bytesRead ?? 0) > 0);
    const trickle = setInterval(() => client.send("X: y\r\n"), 1);
    const text = await clock.passing(client.untilEnd());
    clearInterval(trickle);
    expect(statusesOf(text)).to.deep.equal(["408"]);
  });

  it("a connection that never sends a byte is closed without a response", async () => {
    const { connect, front } = await startAnswering({ headerTimeoutMs: 60 });
    const client = await connect();
    await eventually(() => front.connections === 1);
    expect(await clock.passing(client.untilEnd())).to.equal("");
    expect(client.errorCode).to.equal(undefined);
  });

  it("an idle connection is closed without a further response", async () => {
    const { connect, events } = await startAnswering({ idleTimeoutMs: 60 });
    const client = await connect();
    client.send(request("/1"));
    await client.until(/\/1$/);
    const text = await clock.passing(client.untilEnd());
    expect(statusesOf(text)).to.deep.equal(["200"]);
    expect(events.map((event) => event.reason)).to.deep.equal(["idle-timeout"]);
  });

  it("a request head that stops on a used connection gets 408", async () => {
    const started = await startAnswering({ headerTimeoutMs: 60 });
    const client = await started.connect();
    client.send(request("/1"));
    await client.until(/\/1$/);
    client.send("G");
    await eventually(() => started.sockets[0]?.bytesRead === request("/1").length + 1);
    expect(statusesOf(await clock.passing(client.untilEnd()))).to.deep.equal(["200", "408"]);
  });

  it("the connection of a client that does not end its side after the server has is destroyed", async () => {
    const { connect, front } = await startAnswering({ idleTimeoutMs: 40 });
    const client = await connect();
    client.send(request("/1"));
    await client.until(/\/1$/);
    await clock.passing(eventually(() => front.connections === 0));
  });

  it("a pipeline whose client is slow to read does not time out", async () => {
    const { connect, streams, front } = await startManual({ headerTimeoutMs: 60, idleTimeoutMs: 60 });
    const client = await connect();
    client.socket.pause();
    client.send(request("/1") + request("/2"));
    await eventually(() => streams.length === 1);
    answer(streams[0] as ClientStream, "x".repeat(20_000_000));
    const idle = await connect();
    await eventually(() => front.connections === 2);
    await clock.passing(idle.untilEnd());
    client.socket.resume();
    await eventually(() => streams.length === 2);
    answer(streams[1] as ClientStream);
    await client.until(/hello$/);
  });

  it("a request that waits for its response does not time out", async () => {
    const { connect, streams, front } = await startManual({
      headerTimeoutMs: 40,
      idleTimeoutMs: 40,
      bodyTimeoutMs: 40,
    });
    const client = await connect();
    client.send(request("/1"));
    await eventually(() => streams.length === 1);
    const idle = await connect();
    await eventually(() => front.connections === 2);
    await clock.passing(idle.untilEnd());
    answer(streams[0] as ClientStream);
    await client.until(/hello$/);
  });

  it("a client that reads nothing of a streamed response is disconnected, and the exchange gets the reason", async () => {
    const { connect, events, streams, front } = await startManual({ writeTimeoutMs: 60 });
    const client = await connect();
    client.socket.pause();
    client.send(request("/1"));
    await eventually(() => streams.length === 1);
    const stream = streams[0] as ClientStream;
    const reasons: string[] = [];
    stream.onClose = (reason) => reasons.push(reason);
    stream.sendHead({ status: 200, headers: Fields.of([]), length: undefined, bodyless: false });
    while (stream.write(Buffer.alloc(65_536)));
    stream.onDrain = () => {
      while (stream.write(Buffer.alloc(65_536)));
    };
    await clock.passing(eventually(() => front.connections === 0));
    expect(reasons).to.deep.equal(["timeout"]);
    expect(events.map((event) => event.reason)).to.deep.equal(["write-timeout"]);
  });

  it("a client that reads nothing of a complete response is disconnected", async () => {
    const { connect, streams, front } = await startManual({ writeTimeoutMs: 60 });
    const client = await connect();
    client.socket.pause();
    client.send(request("/1"));
    await eventually(() => streams.length === 1);
    answer(streams[0] as ClientStream, "x".repeat(20_000_000));
    await clock.passing(eventually(() => front.connections === 0));
  });

  it("a client that reads nothing is disconnected even while it sends", async () => {
    const { connect, events, streams, front } = await startManual({ writeTimeoutMs: 60 });
    const client = await connect();
    client.socket.pause();
    client.send(request("/1"));
    await eventually(() => streams.length === 1);
    answer(streams[0] as ClientStream, "x".repeat(20_000_000));
    const trickle = setInterval(() => client.send("\r\n"), 1);
    await clock.passing(eventually(() => front.connections === 0));
    clearInterval(trickle);
    expect(events.map((event) => event.reason)).to.deep.equal(["write-timeout"]);
  });

  it("the time that the first bytes waited before the front counts towards the header timeout", async () => {
    const started = await startAnswering({ headerTimeoutMs: 60 });
    const late = await startAnswering({ headerTimeoutMs: 60 }, { spentMs: 60 });
    const client = await started.connect();
    const lateClient = await late.connect();
    for (const each of [client, lateClient]) each.send("PR");
    await eventually(() => started.sockets[0]?.bytesRead === 2 && late.sockets[0]?.bytesRead === 2);
    // Node's codec notices only in a sweep that a head has begun.
    await Promise.all([started.swept(), late.swept()]);
    // More than the sweep interval, which is added to deadlines, and far less than the timeout.
    clock.advance(20);
    expect(statusesOf(await lateClient.untilEnd())).to.deep.equal(["408"]);
    await started.swept();
    expect(started.events).to.deep.equal([]);
  });

  describe("a response to HTTP/1.0 whose end is that of the connection", () => {
    const unsized = { status: 200, headers: Fields.of([]), length: undefined, bodyless: false };

    type StuckOptions = FrontOptions & { readonly limits?: Partial<FrontLimits> };

    /** Starts a front and a client that reads nothing of a response, which may be complete. */
    async function startStuck(isComplete: boolean, { limits, ...options }: StuckOptions = {}) {
      const started = await startManual({ writeTimeoutMs: 60, ...limits }, options);
      const client = await started.connect();
      client.socket.pause();
      client.send("GET / HTTP/1.0\r\n\r\n");
      await eventually(() => started.streams.length === 1);
      const stream = started.streams[0] as ClientStream;
      stream.sendHead(unsized);
      stream.write(Buffer.alloc(20_000_000));
      if (isComplete) stream.end(undefined);
      return { ...started, client };
    }

    for (const isComplete of [false, true]) {
      const what = isComplete ? "that is complete and waits" : "that is incomplete";

      it(`a response ${what} is cut by a reset when its client is too slow`, async () => {
        const { client, front, events } = await startStuck(isComplete);
        await clock.passing(eventually(() => front.connections === 0));
        client.socket.resume();
        await eventually(() => client.closed || client.ended);
        expect(client.errorCode).to.equal("ECONNRESET");
        expect(events.map((event) => event.reason)).to.deep.equal(["write-timeout"]);
      });

      it(`a response ${what} is cut by a reset when the proxy ends`, async () => {
        const { client, front } = await startStuck(isComplete);
        front.destroy();
        client.socket.resume();
        await eventually(() => client.closed || client.ended);
        expect(client.errorCode).to.equal("ECONNRESET");
      });

      it(`a response ${what} is cut by a reset when the memory of waiting responses is full`, async () => {
        const { client, front } = await startStuck(isComplete, {
          limits: { writeTimeoutMs: 0 },
          maxWaitingBytes: 1_000_000,
        });
        await clock.passing(eventually(() => front.connections === 0));
        client.socket.resume();
        await eventually(() => client.closed || client.ended);
        expect(client.errorCode).to.equal("ECONNRESET");
      });
    }

    it("a complete response that the system has taken reaches its client when the proxy ends", async () => {
      const { connect, front, streams } = await startManual();
      const client = await connect();
      client.send("GET / HTTP/1.0\r\n\r\n");
      await eventually(() => streams.length === 1);
      const stream = streams[0] as ClientStream;
      stream.sendHead(unsized);
      stream.write("hello");
      stream.end(undefined);
      await client.until(/hello$/);
      front.destroy();
      await eventually(() => client.closed || client.ended);
      expect(client.errorCode).to.equal(undefined);
    });

    it("a slow client of a complete HEAD response is closed in order", async () => {
      const { connect, front, streams } = await startManual();
      const client = await connect();
      client.send("HEAD / HTTP/1.0\r\n\r\n");
      await eventually(() => streams.length === 1);
      const stream = streams[0] as ClientStream;
      stream.sendHead({ ...unsized, bodyless: true });
      await client.until(/\r\n\r\n$/);
      front.destroy();
      await eventually(() => client.closed || client.ended);
      expect(client.errorCode).to.equal(undefined);
    });
  });
});
