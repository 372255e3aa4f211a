import { expect } from "chai";
import { Fields } from "../../../src/message/fields.ts";
import type { ClientStream } from "../../../src/message/message.ts";
import { readEnd } from "../../end-reader.ts";
import { holdClock } from "../held-clock.ts";
import { describeCodecs } from "../../http1-codecs.ts";
import { answer, bodyOf, eventually, startFront, statusesOf, stopAll } from "./harness.ts";

const upgrade = (protocol: string, more = ""): string =>
  `GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: ${protocol}\r\n${more}\r\n`;

describeCodecs("the HTTP/1 front: upgrades", () => {
  // A slow machine also reads the bytes after a request slowly, and the front allows only seconds for that.
  const clock = holdClock();
  afterEach(stopAll);

  it("an upgrade hands over the connection with the bytes that follow the request", async () => {
    const { connect, front } = await startFront((_, head, stream) => {
      expect(head.headers.toList()).to.include.members(["Upgrade", "websocket"]);
      setImmediate(() => {
        const given = stream.upgrade(Fields.of(["Sec-WebSocket-Accept", "x"]));
        if (given === undefined) return;
        const { transport } = given;
        transport.writeText(`<${given.head.toString()}>`);
        readEnd(
          transport,
          (text) => transport.writeText(`<${text}>`),
          () => transport.end(),
        );
      });
    });
    const client = await connect();
    client.send(`${upgrade("websocket")}early`);
    await client.until(/<early>$/);
    client.send("later");
    const text = await client.until(/<early><later>$/);
    expect(text).to.match(/^HTTP\/1\.1 101 Switching Protocols\r\nSec-WebSocket-Accept: x\r\n/);
    expect(text).to.match(/\r\nUpgrade: websocket\r\n/);
    expect(text).to.match(/\r\nConnection: Upgrade\r\n/);
    expect(front.connections).to.equal(1);
    client.socket.end();
    await client.untilEnd();
    await eventually(() => front.connections === 0);
  });

  it("the Upgrade and Connection fields of an upgrade response are sent unchanged", async () => {
    const { connect } = await startFront((_, _head, stream) => {
      stream.upgrade(Fields.of(["connection", "upgrade", "upgrade", "WebSocket"]));
    });
    const client = await connect();
    client.send(upgrade("websocket"));
    const text = await client.until(/\r\n\r\n$/);
    expect(text.match(/connection:/gi)).to.have.length(1);
    expect(text.match(/upgrade: WebSocket/g)).to.have.length(1);
  });

  it("a refused upgrade gets an ordinary response of any size, and the connection is closed", async () => {
    const total = 200;
    let written = 0;
    const { connect } = await startFront((_, _head, stream) => {
      stream.sendHead({ status: 403, headers: Fields.of([]), length: undefined, bodyless: false });
      const pump = (): void => {
        while (written < total) {
          written++;
          if (!stream.write(Buffer.alloc(65_536, "x"))) return;
        }
        stream.onDrain = null;
        stream.end(undefined);
      };
      stream.onDrain = pump;
      pump();
    });
    const client = await connect();
    client.send(upgrade("websocket"));
    const text = await client.untilEnd();
    expect(text).to.match(/^HTTP\/1\.1 403 Forbidden\r\nConnection: close\r\n/);
    expect(bodyOf(text).match(/10000\r\n/g)).to.have.length(total);
    expect(text.endsWith("\r\n0\r\n\r\n")).to.equal(true);
    expect(client.errorCode).to.equal(undefined);
  });

  it("the response to a refused upgrade arrives even when more bytes follow the request", async () => {
    const { connect, front } = await startFront((_, _head, stream) => answer(stream));
    const client = await connect();
    client.send(upgrade("websocket"));
    const sent = new Promise((resolve) => client.socket.write("x".repeat(30_000_000), resolve));
    expect(await client.untilEnd()).to.match(/hello$/);
    await sent;
    client.socket.end();
    await eventually(() => front.connections === 0);
    expect(client.errorCode).to.equal(undefined);
  });

  it("a refused upgrade whose client does not read is closed after the write timeout", async () => {
    const { connect, front, sockets } = await startFront(
      (_, _head, stream) => answer(stream, "x".repeat(20_000_000)),
      {
        writeTimeoutMs: 60,
      },
    );
    const client = await connect();
    client.socket.pause();
    client.send(upgrade("websocket"));
    await eventually(() => sockets.length === 1);
    await clock.passing(eventually(() => front.connections === 0));
  });

  for (const [name, text] of [
    ["another protocol", upgrade("h2c", "Connection: HTTP2-Settings\r\nHTTP2-Settings: AAMAAABk\r\n")],
    ["another method", upgrade("websocket").replace("GET", "POST")],
    ["a body", `${upgrade("websocket", "Content-Length: 5\r\n")}hello`],
    ["HTTP/1.0", upgrade("websocket").replace("HTTP/1.1", "HTTP/1.0")],
    ["no Connection option", "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n"],
  ] as const) {
    it(`an upgrade request with ${name} is served as an ordinary request`, async () => {
      let upgraded: unknown = "unset";
      const { connect } = await startFront((_, _head, stream) => {
        upgraded = stream.upgrade(Fields.of([]));
        answer(stream);
      });
      const client = await connect();
      client.send(text);
      expect(statusesOf(await client.until(/hello$/))).to.deep.equal(["200"]);
      expect(upgraded).to.equal(undefined);
    });
  }

  it("an upgrade is refused for CONNECT and after the response head was sent", async () => {
    const results: unknown[] = [];
    const { connect } = await startFront((_, _head, stream) => {
      if (_head.method === "CONNECT") results.push(stream.upgrade(Fields.of([])));
      answer(stream);
      results.push(stream.upgrade(Fields.of([])));
    });
    const first = await connect();
    first.send("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
    await first.untilEnd();
    const second = await connect();
    second.send(upgrade("websocket"));
    await second.untilEnd();
    expect(results).to.deep.equal([undefined, undefined, undefined]);
  });

  it("earlier requests are answered before a pipelined CONNECT", async () => {
    const streams: ClientStream[] = [];
    const { connect } = await startFront((_, _head, stream) => {
      streams.push(stream);
    });
    const client = await connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n");
    await eventually(() => streams.length === 1);
    answer(streams[0] as ClientStream, "first");
    await eventually(() => streams.length === 2);
    answer(streams[1] as ClientStream, "second");
    expect(await client.untilEnd()).to.match(/first[^]*second$/);
  });

  it("a tunnel counts as a request that is cut when the HTTP/1 front is destroyed", async () => {
    let closed = false;
    const { connect, front } = await startFront((_, _head, stream) => {
      stream.upgrade(Fields.of([]))?.transport.whenClosed(() => {
        closed = true;
      });
    });
    const client = await connect();
    client.send(upgrade("websocket"));
    await client.until(/101/);
    front.drain();
    expect(client.ended).to.equal(false);
    expect(front.destroy()).to.equal(1);
    await eventually(() => closed);
  });
});
