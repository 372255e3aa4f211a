import { once } from "node:events";
import { connect, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { eventually, startGateway, type Gateway } from "./gateway.ts";
import { getOverHttp2 } from "./http2-client.ts";

const host = "a.example";
const small = "x".repeat(1000);
/** The window of a stream. */
const window = Buffer.alloc(65_536, "b");

describeHttp2Codecs("clients that share a connection to an HTTP/2 backend", () => {
  let backend: Http2Server;
  let gateway: Gateway;
  let connections: number;
  /** The responses of which a whole window was sent. */
  let sent: number;
  let answer: (stream: ServerHttp2Stream) => void;

  const sendMuch = (stream: ServerHttp2Stream): void => {
    stream.write(window, () => sent++);
    stream.end(window);
  };

  beforeEach(async () => {
    [connections, sent] = [0, 0];
    backend = createServer();
    backend.on("session", () => connections++);
    backend.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200 });
      answer(stream);
    });
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    const { port } = backend.address() as AddressInfo;
    gateway = await startGateway({ ports: [port], protocol: "http2" });
  });

  afterEach(async () => {
    await gateway.close();
    backend.close();
  });

  it("a client is served beside many responses that another client does not read", async () => {
    answer = sendMuch;
    const reader = connect(`http://127.0.0.1:${gateway.port}`, { settings: { initialWindowSize: 0 } });
    reader.on("error", () => undefined);
    for (let i = 0; i < 90; i++) {
      const stream = reader.request({ ":path": "/", ":authority": host });
      stream.on("error", () => undefined);
    }
    await eventually(() => sent === 90);
    answer = (stream) => stream.end(small);
    const { status, body, ended } = await getOverHttp2(gateway.port, host);
    expect({ status, body, ended }).to.deep.equal({ status: 200, body: small, ended: true });
    expect(connections).to.equal(1);
    reader.destroy();
  });
});
