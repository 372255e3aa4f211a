import { once } from "node:events";
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectOverTls } from "node:tls";
import { expect } from "chai";
import { field, flags, frame, frameTypes, rawClient, uint32 } from "../http/h2/frames.ts";
import { describeHttp2Codecs } from "../http2-codecs.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually, startGateway, startTcp, type Gateway } from "./gateway.ts";

const host = "a.example";

/** RST, also where the socket is one of TLS over another. */
function resetUnderneath(socket: Socket): void {
  const { _parent: below } = socket as Socket & { readonly _parent?: Socket | null };
  (below ?? socket).resetAndDestroy();
}

const connectTls = (port: number): Socket =>
  connectOverTls({
    socket: connectTcp({ host: "127.0.0.1", port }),
    servername: host,
    ALPNProtocols: ["h2"],
    rejectUnauthorized: false,
  });

/** Resolves when nothing moves any more: in many turns the socket could write nothing of what waits. */
async function stillness(socket: Socket): Promise<void> {
  const left = (): number => socket.bytesWritten - socket.writableLength;
  let before = -1;
  for (let still = 0; still < 200 || !socket.writableNeedDrain; still = left() === before ? still + 1 : 0) {
    before = left();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Ways to go. The window of a client's stream is full, or that of its whole connection. */
const ways: readonly (readonly [name: string, leave: (client: ClientHttp2Stream, raw: Socket) => void])[] = [
  ["resets its stream", (client) => client.close(constants.NGHTTP2_CANCEL)],
  ["ends its session", (client) => client.session?.destroy()],
  ["closes its connection", (_, raw) => raw.destroySoon()],
  ["resets its connection", (_, raw) => resetUnderneath(raw)],
];

describeHttp2Codecs("an HTTP/2 client that leaves while flow control blocks its response", () => {
  let gateway: Gateway;
  let backend: Awaited<ReturnType<typeof startTcp>>;
  let session: ClientHttp2Session | undefined;
  /** The backend's ends of the connections that it has written a response to. */
  let upstreams: Socket[];

  before(async () => {
    backend = await startTcp((socket) => {
      socket.once("data", () => {
        upstreams.push(socket);
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
        const block = Buffer.alloc(65_536);
        const pump = (): void => {
          while (!socket.destroyed && socket.write(block));
        };
        socket.on("drain", pump);
        pump();
      });
    });
    const { chainPem, keyPem } = issueCertificate([host]);
    gateway = await startGateway({ ports: [backend.port], certificate: { chainPem, keyPem } });
  });
  beforeEach(() => {
    upstreams = [];
    gateway.records.length = 0;
  });
  afterEach(() => session?.destroy());
  after(async () => {
    await gateway.close();
    await backend.close();
  });

  it("an HTTP/2 client that leaves is noticed when it has read nothing of its connection", async () => {
    const largestWindow = Buffer.concat([Buffer.from([0, 4]), uint32(0x7fff_ffff)]);
    const peer = rawClient(gateway.port, largestWindow);
    peer.socket.pause();
    const fields = [":method", "GET", ":scheme", "http", ":path", "/", ":authority", host];
    const block = fields.flatMap((text, index) =>
      index % 2 === 0 ? field(text, fields[index + 1] ?? "") : [],
    );
    peer.send(
      frame(frameTypes.windowUpdate, 0, 0, uint32(0x7000_0000)),
      frame(frameTypes.headers, flags.endStream | flags.endHeaders, 1, Buffer.concat(block)),
    );
    await eventually(() => upstreams.length === 1);
    const [upstream] = upstreams as [Socket];
    await stillness(upstream);
    peer.close();
    await eventually(() => upstream.closed && gateway.records.length === 1);
    expect(gateway.records[0]).to.include({ status: 200, error: "client closed" });
  });

  for (const secure of [false, true]) {
    for (const window of [0, 65_535]) {
      for (const [name, leave] of ways) {
        const where = `${secure ? "TLS" : "cleartext"}, window ${window}`;
        it(`an HTTP/2 client that blocks its response and ${name} is noticed (${where})`, async () => {
          const origin = secure ? `https://${host}` : `http://127.0.0.1:${gateway.port}`;
          session = connect(origin, {
            settings: { initialWindowSize: window },
            ...(secure && { createConnection: () => connectTls(gateway.tlsPort) }),
          });
          session.on("error", () => {});
          const [, raw] = (await once(session, "connect")) as [unknown, Socket];
          const client = session.request({ ":path": "/", ":authority": host });
          client.on("error", () => {});
          await once(client, "response");
          await eventually(() => upstreams.length === 1);
          const [upstream] = upstreams as [Socket];
          await stillness(upstream);
          leave(client, raw);
          await eventually(() => upstream.closed);
          await eventually(() => gateway.records.length === 1);
          expect(gateway.records[0]).to.include({ status: 200, error: "client closed" });
        });
      }
    }
  }
});
