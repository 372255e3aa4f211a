import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { WebSocketServer } from "ws";
import { useHttp2Codec } from "../http2-codecs.ts";
import { eventually, type Gateway, startGateway, startHttp, startTcp } from "./gateway.ts";

const host = "a.example";

/** A text frame of a client, masked with zeros (RFC 6455 5.2). */
const textFrame = (text: string): Buffer =>
  Buffer.concat([Buffer.of(0x81, 0x80 | text.length, 0, 0, 0, 0), Buffer.from(text)]);
const closeFrame = Buffer.of(0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8);

describe("WebSockets over HTTP/2, with the native codec of HTTP/2", () => {
  const closing: (() => unknown)[] = [];
  let gateway: Gateway;
  let session: ClientHttp2Session;

  before(() => useHttp2Codec("native"));
  after(() => useHttp2Codec(undefined));
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const start = async (port: number): Promise<void> => {
    gateway = await startGateway({ ports: [port] });
    closing.push(() => gateway.close());
    session = connect(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => {});
    closing.push(() => session.destroy());
    await once(session, "remoteSettings");
  };

  const ask = (fields: Record<string, string> = {}): ClientHttp2Stream => {
    const stream = session.request(
      {
        ":method": "CONNECT",
        ":protocol": "websocket",
        ":scheme": "http",
        ":path": "/chat?a=b",
        ":authority": host,
        "sec-websocket-version": "13",
        ...fields,
      },
      { endStream: false },
    );
    stream.on("error", () => {});
    return stream;
  };

  const answered = async (stream: ClientHttp2Stream): Promise<Record<string, unknown>> => {
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    return { ...headers };
  };

  const startEcho = async (): Promise<{ asked: string[] }> => {
    const asked: string[] = [];
    const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(sockets, "listening");
    closing.push(() => sockets.close());
    sockets.on("connection", (socket, request) => {
      asked.push(`${request.method} ${request.url} ${request.headers.host}`);
      socket.on("message", (data) => socket.send(`echo ${(data as Buffer).toString()}`));
    });
    await start((sockets.address() as AddressInfo).port);
    return { asked };
  };

  it("a message goes to the backend and back, and the tunnel is logged when it ends", async () => {
    const { asked } = await startEcho();
    expect(session.remoteSettings.enableConnectProtocol).to.equal(true);
    const stream = ask();
    const headers = await answered(stream);
    expect(headers[":status"]).to.equal(200);
    expect(headers).to.not.have.any.keys("sec-websocket-accept", "upgrade", "connection");
    expect(asked).to.deep.equal([`GET /chat?a=b ${host}`]);
    stream.write(textFrame("hi"));
    const [echo] = (await once(stream, "data")) as [Buffer];
    expect(echo.subarray(2).toString()).to.equal("echo hi");
    expect(gateway.records).to.deep.equal([]);
    stream.end(closeFrame);
    stream.resume();
    await once(stream, "close");
    expect(stream.rstCode).to.equal(0);
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ status: 101, method: "GET" });
    expect(gateway.records[0]?.error ?? "").to.equal("");
    expect(gateway.records[0]?.bytesSent).to.be.at.least(2 + "echo hi".length);
  });

  it("a client that resets its stream closes the connection to the backend, and other streams go on", async () => {
    await startEcho();
    const [first, second] = [ask(), ask()];
    await Promise.all([answered(first), answered(second)]);
    first.close(8);
    await eventually(() => gateway.records.length === 1);
    second.write(textFrame("still"));
    const [echo] = (await once(second, "data")) as [Buffer];
    expect(echo.subarray(2).toString()).to.equal("echo still");
  });

  it("a backend that cuts the connection resets the stream", async () => {
    const backend = await startTcp((socket) => {
      socket.once("data", () => socket.destroy());
    });
    closing.push(() => backend.close());
    await start(backend.port);
    expect((await answered(ask()))[":status"]).to.equal(502);
  });

  it("an answer without the proof of RFC 6455 is 502", async () => {
    const backend = await startTcp((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
      ),
    );
    closing.push(() => backend.close());
    await start(backend.port);
    expect((await answered(ask()))[":status"]).to.equal(502);
  });

  for (const [status, seen] of [
    [200, 502],
    [403, 403],
    [426, 426],
  ] as const) {
    it(`a backend that answers ${status} instead of 101 makes a ${seen}`, async () => {
      const backend = await startHttp((_request, response) => response.writeHead(status).end("no"));
      backend.server.on("upgrade", (_request, socket) =>
        socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 2\r\n\r\nno`),
      );
      closing.push(() => backend.close());
      await start(backend.port);
      const stream = ask();
      expect((await answered(stream))[":status"]).to.equal(seen);
    });
  }

  it("a tunnel in both directions carries more than the windows", async () => {
    await startEcho();
    const stream = ask();
    await answered(stream);
    const count = 400;
    let received = 0;
    stream.on("data", (bytes: Buffer) => (received += bytes.length));
    const text = "x".repeat(100);
    for (let i = 0; i < count * 10; i++) stream.write(textFrame(text));
    await eventually(() => received >= count * 10 * (2 + "echo ".length + text.length));
  });

  it("the end of the proxy cuts a tunnel, and logs it", async () => {
    await startEcho();
    const stream = ask();
    await answered(stream);
    await gateway.proxy.shutdown(AbortSignal.abort());
    await eventually(() => stream.closed);
    expect(gateway.records.map(({ status, error }) => [status, error])).to.deep.equal([[101, "shutdown"]]);
  });

  it("another protocol than websocket is refused with 405", async () => {
    await startEcho();
    expect((await answered(ask({ ":protocol": "connect-udp" })))[":status"]).to.equal(405);
  });
});
