import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type IncomingHttpHeaders,
  connect as connectHttp2,
  createServer as createHttp2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect } from "node:net";
import { expect } from "chai";
import { WebSocket, WebSocketServer } from "ws";
import { describeCodecs } from "../http1-codecs.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually, type Gateway, startGateway, startTcp } from "./gateway.ts";

const host = "a.example";

type Call = {
  readonly stream: ClientHttp2Stream;
  readonly seen: { body: string; grpc: string; message: string; code: number | undefined };
};

describeCodecs("clients at the end of a drain", (codec) => {
  const closing: (() => unknown)[] = [];
  let gateway: Gateway;
  /** Ends the time for the drain. */
  let hurry: AbortController;
  beforeEach(() => (hurry = new AbortController()));
  afterEach(async () => {
    hurry.abort();
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const start = async (...plan: Parameters<typeof startGateway>): Promise<void> => {
    gateway = await startGateway(plan[0], ["--proxy-shutdown-grace-period=1h"]);
    closing.push(() => gateway.close());
  };

  /** Answers the codes that the backend's sockets are closed with. */
  const startWebSockets = async (certificate?: { chainPem: string; keyPem: string }): Promise<number[]> => {
    const codes: number[] = [];
    const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await once(sockets, "listening");
    closing.push(() => sockets.close());
    sockets.on("connection", (socket) => {
      socket.on("error", () => {});
      socket.on("close", (code) => codes.push(code));
      socket.on("message", (data) => {
        const text = (data as Buffer).toString();
        socket.send(`echo ${text}`);
        if (text === "bye") socket.close(1000);
      });
    });
    const { port } = sockets.address() as AddressInfo;
    await start({ ports: [port], ...(certificate && { certificate }) });
    return codes;
  };

  const openWebSocket = async (
    url = `ws://127.0.0.1:${gateway.port}`,
  ): Promise<{ socket: WebSocket; messages: string[]; closed: Promise<number> }> => {
    const socket = new WebSocket(url, { headers: { host }, rejectUnauthorized: false });
    socket.on("error", () => {});
    const messages: string[] = [];
    socket.on("message", (data) => messages.push((data as Buffer).toString()));
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    await once(socket, "open");
    return { socket, messages, closed };
  };

  it("a WebSocket that ends within the drain ends with its last message and code, and both ends of another one with 1001", async () => {
    const codes = await startWebSockets();
    const [early, late] = [await openWebSocket(), await openWebSocket()];
    const down = gateway.proxy.shutdown(hurry.signal, "at-once");
    early.socket.send("bye");
    late.socket.send("hello");
    expect(await early.closed).to.equal(1000);
    expect(early.messages).to.deep.equal(["echo bye"]);
    await eventually(() => late.messages.length === 1);
    // The other end, and the proxy, may notice the end of the connection after the client.
    await eventually(() => codes.length === 1 && gateway.records.length === 1);
    hurry.abort();
    expect(await late.closed).to.equal(1001);
    await down;
    await eventually(() => codes.length === 2);
    expect(codes).to.deep.equal([1000, 1001]);
    const outcome = gateway.records.map(({ status, error }) => [status, error]);
    expect(outcome).to.deep.equal([
      [101, undefined],
      [101, "shutdown"],
    ]);
  });

  it("a WebSocket over TLS is closed with 1001 at the end of a drain", async () => {
    const { chainPem, keyPem } = issueCertificate([host]);
    await startWebSockets({ chainPem, keyPem });
    const { closed } = await openWebSocket(`wss://127.0.0.1:${gateway.tlsPort}`);
    const down = gateway.proxy.shutdown(hurry.signal, "at-once");
    hurry.abort();
    expect(await closed).to.equal(1001);
    await down;
  });

  const head = "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
  const bodyOf = (text: string): string => text.slice(text.indexOf("\r\n\r\n") + 4);
  const closeFrame = Buffer.of(0x88, 2, 1001 >> 8, 1001 & 0xff).toString("latin1");
  /** The bytes that each end received after the head of its message, once both connections are closed. */
  const drainedBetween = async (
    fromClient: string,
    fromBackend: string,
  ): Promise<{ client: string; backend: string }> => {
    let [received, requests] = ["", ""];
    const backendClosed = Promise.withResolvers<void>();
    const backend = await startTcp((socket) => {
      socket.on("error", () => {});
      socket.on("close", () => backendClosed.resolve());
      socket.once("data", () => socket.write(head + fromBackend, "latin1"));
      socket.on("data", (data: Buffer) => (requests += data.toString("latin1")));
    });
    closing.push(() => backend.close());
    await start({ ports: [backend.port] });
    const client = connect(gateway.port, "127.0.0.1");
    closing.push(() => client.destroy());
    client.on("error", () => {});
    client.on("data", (data: Buffer) => (received += data.toString("latin1")));
    const closed = new Promise((resolve) => client.on("close", resolve));
    client.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n`);
    await eventually(() => received.endsWith(`\r\n\r\n${fromBackend}`));
    client.write(fromClient, "latin1");
    await eventually(() => requests.endsWith(fromClient));
    const down = gateway.proxy.shutdown(hurry.signal, "at-once");
    hurry.abort();
    await Promise.all([closed, backendClosed.promise, down]);
    return { client: bodyOf(received), backend: bodyOf(requests) };
  };

  it("the client of a WebSocket gets nothing of the proxy's own within a frame of the backend, which gets 1001", async () => {
    const begun = Buffer.of(0x82, 100, 1, 2, 3).toString("latin1");
    const { client, backend } = await drainedBetween("", begun);
    expect(client).to.equal(begun);
    const [first, length, ...rest] = Buffer.from(backend, "latin1");
    expect([first, length]).to.deep.equal([0x88, 0x82]);
    const [key0 = 0, key1 = 0, , , high = 0, low = 0] = rest;
    expect(((high ^ key0) << 8) | (low ^ key1)).to.equal(1001);
    expect(rest).to.have.length(6);
  });

  it("the backend of a WebSocket gets nothing of the proxy's own within a frame of the client, which gets 1001", async () => {
    const begun = Buffer.of(0x82, 0x80 | 100, 1, 2, 3, 4, 5).toString("latin1");
    expect(await drainedBetween(begun, "")).to.deep.equal({ client: closeFrame, backend: begun });
  });

  const startCalls = async (): Promise<{
    readonly served: ServerHttp2Stream[];
    call(): Promise<Call>;
  }> => {
    const served: ServerHttp2Stream[] = [];
    const server = createHttp2Server();
    server.on("stream", (stream) => {
      stream.on("error", () => {});
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      served.push(stream);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    await start({ ports: [(server.address() as AddressInfo).port], protocol: "http2" });
    const session: ClientHttp2Session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    session.on("error", () => {});
    closing.push(() => session.destroy());
    const call = async (): Promise<Call> => {
      const known = served.length;
      const stream = session.request({
        ...{ ":method": "POST", ":path": "/pkg.Service/Method", ":authority": host },
        ...{ "content-type": "application/grpc", te: "trailers" },
      });
      const seen: Call["seen"] = { body: "", grpc: "", message: "", code: undefined };
      const take = (fields: IncomingHttpHeaders): void => {
        seen.grpc = String(fields["grpc-status"] ?? "");
        seen.message = String(fields["grpc-message"] ?? "");
      };
      stream.on("error", () => {});
      stream.on("response", take);
      stream.on("trailers", take);
      stream.on("data", (data: Buffer) => (seen.body += data.toString()));
      stream.on("close", () => (seen.code = stream.rstCode));
      await eventually(() => served.length > known);
      return { stream, seen };
    };
    return { served, call };
  };

  const answer = (stream: ServerHttp2Stream | undefined, message: string): void => {
    stream?.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream?.write(message);
  };

  it("a gRPC call that ends within the drain ends with its last message and status", async () => {
    const { served, call } = await startCalls();
    const { stream, seen } = await call();
    answer(served[0], "first,");
    await eventually(() => seen.body === "first,");
    const down = gateway.proxy.shutdown(hurry.signal, "at-once");
    stream.end();
    served[0]?.end("last");
    await eventually(() => seen.code !== undefined);
    expect(seen).to.deep.equal({ body: "first,last", grpc: "0", message: "", code: 0 });
    await down;
  });

  const ending = codec === "native" ? "answered UNAVAILABLE" : "reset";
  it(`a gRPC call is ${ending} at the end of a drain, before or after its first message`, async () => {
    const { served, call } = await startCalls();
    const [begun, silent] = [await call(), await call()];
    answer(served[0], "first,");
    await eventually(() => begun.seen.body === "first,");
    const down = gateway.proxy.shutdown(hurry.signal, "at-once");
    hurry.abort();
    await eventually(() => begun.seen.code !== undefined && silent.seen.code !== undefined);
    await down;
    if (codec === "native") {
      const unavailable = { grpc: "14", message: "proxy shutting down", code: 0 };
      expect(begun.seen).to.deep.equal({ body: "first,", ...unavailable });
      expect(silent.seen).to.deep.equal({ ...begun.seen, body: "" });
    } else {
      expect(begun.seen).to.deep.equal({ body: "first,", grpc: "", message: "", code: 8 });
    }
    expect(gateway.records.map(({ error }) => error)).to.deep.equal([
      "proxy shutting down",
      "proxy shutting down",
    ]);
    const cut = gateway.metrics.requestsForceClosed.with({ reason: "shutdown" }).value;
    expect(cut).to.equal(2);
    // The backend knows as well.
    await eventually(() => served.every(({ destroyed }) => destroyed));
  });
});
