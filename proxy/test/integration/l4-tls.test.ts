import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls, createServer, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { L4Host } from "@svc-gateway/common/ir/l4.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { capturedHello } from "../tls/harness.ts";
import { eventually, startTcp } from "./gateway.ts";
import { anyHost, l4Route, startL4, sendOverTls, type L4Gateway, type L4Plan } from "./l4.ts";

const [secure, plain] = ["ns/secure/443", "ns/plain/80"] as const;
const exact = (host: string): { readonly kind: "exact"; readonly host: string } => ({ kind: "exact", host });
const wildcard = (host: string): { readonly kind: "wildcard"; readonly host: string } => ({
  kind: "wildcard",
  host,
});

describe("TLS routes", () => {
  const ofBackend = issueCertificate(["through.example.com", "*.example.com"]);
  const ofGateway = issueCertificate(["end.example.com", "web.example.com"]);
  const backend = createServer({ cert: ofBackend.chainPem, key: ofBackend.keyPem, ALPNProtocols: ["x"] });
  let plainBackend: Awaited<ReturnType<typeof startTcp>>;
  let endpoints: L4Plan["endpoints"];
  let gateway: L4Gateway;
  const sockets: Socket[] = [];

  before(async () => {
    backend.on("secureConnection", (socket) => {
      socket.on("error", () => {});
      socket.end(`backend ${String(socket.servername)}`);
    });
    backend.listen(0, "127.0.0.1");
    await once(backend, "listening");
    plainBackend = await startTcp((socket) => {
      socket.allowHalfOpen = true;
      let text = "";
      socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
      socket.on("end", () => socket.end(`plain ${text}`));
    });
    endpoints = { [secure]: [(backend.address() as AddressInfo).port], [plain]: [plainBackend.port] };
  });

  after(async () => {
    backend.close();
    await plainBackend.close();
  });

  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.close();
  });

  const certificates = (...names: readonly string[]): NonNullable<L4Plan["certificates"]> => ({
    certificates: { own: ofGateway },
    hosts: names.map((host) => ({
      bucket: "exact",
      host,
      certificates: ["own"],
      ...(host === "web.example.com" ? {} : { applicationProtocols: "none" }),
    })),
  });

  const start = async (plan: Partial<L4Plan>, ...flags: readonly string[]): Promise<void> => {
    gateway = await startL4({ endpoints, ...plan }, flags);
  };

  const passthrough = (host: Pick<L4Host, "kind" | "host">): L4Host => ({
    ...host,
    mode: "passthrough",
    route: l4Route([secure, 1]),
  });
  const terminate = (host: Pick<L4Host, "kind" | "host">): L4Host => ({
    ...host,
    mode: "terminate",
    route: l4Route([plain, 1]),
  });

  const dialTls = (servername: string | undefined, options: ConnectionOptions = {}): TLSSocket => {
    const socket = connectTls({
      host: "127.0.0.1",
      port: gateway.tlsPort,
      rejectUnauthorized: false,
      ...(servername !== undefined && { servername }),
      ...options,
    });
    sockets.push(socket);
    return socket;
  };

  /** Sends bytes over TLS; resolves to the answer, with the error code of a connection that failed. */
  const talk = (servername: string | undefined, bytes = ""): Promise<string> => {
    const socket = dialTls(servername, { allowHalfOpen: true } as ConnectionOptions);
    return sendOverTls(socket, bytes);
  };

  const dialPlain = (): { readonly socket: Socket; readonly ended: Promise<string> } => {
    const socket = connect(gateway.tlsPort, "127.0.0.1");
    sockets.push(socket);
    const ended = new Promise<string>((resolve) => {
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      socket.on("close", () => resolve("closed"));
    });
    socket.resume();
    return { socket, ended };
  };

  it("a TLS route passes TLS through to the backend, which gets the server name", async () => {
    await start({ tls: [passthrough(wildcard("*.example.com"))] });
    expect(await talk("through.example.com")).to.equal("backend through.example.com");
    expect(await talk("a.b.example.com")).to.equal("backend a.b.example.com");
    await eventually(() => gateway.connections.length === 2);
    // Ciphertext, the hello that was read for its name included.
    const sum = (of: "bytesReceived" | "bytesSent"): number =>
      gateway.connections.reduce((total, record) => total + record[of], 0);
    const labels = '{listener="9443",route="tcproute/ns/db:0"}';
    expect(await gateway.samples("svc_proxy_connection_received_bytes_total")).to.deep.equal([
      `${labels} ${sum("bytesReceived")}`,
    ]);
    expect(await gateway.samples("svc_proxy_connection_sent_bytes_total")).to.deep.equal([
      `${labels} ${sum("bytesSent")}`,
    ]);
    expect(Math.min(sum("bytesReceived"), sum("bytesSent"))).to.be.above(400);
  });

  it("connections that are accepted before the first TLS route of their port are served by it, and others by HTTPS", async () => {
    const own = { endpoints, https: true, certificates: certificates("web.example.com") };
    await start(own);
    const accepted = (): number => gateway.metrics.connectionsActive.with({ listener: "9443" }).value;
    const hello = await capturedHello({ servername: "through.example.com" });
    const half = hello.length >> 1;
    const [begun, silent] = [connect(gateway.tlsPort, "127.0.0.1"), connect(gateway.tlsPort, "127.0.0.1")];
    sockets.push(begun, silent);
    let answer = Buffer.alloc(0);
    begun.on("data", (bytes: Buffer) => (answer = Buffer.concat([answer, bytes])));
    begun.write(hello.subarray(0, half));
    await eventually(() => accepted() === 2);
    await gateway.update({ ...own, tls: [passthrough(exact("through.example.com"))] });
    begun.write(hello.subarray(half));
    // A ServerHello of the backend.
    await eventually(() => answer.length > 5);
    expect([answer[0], answer[5]]).to.deep.equal([22, 2]);
    const web = dialTls("web.example.com", { socket: silent });
    web.write("GET / HTTP/1.1\r\nHost: web.example.com\r\nConnection: close\r\n\r\n");
    expect(String(await once(web, "data"))).to.match(/^HTTP\/1\.1 404 /);
    begun.destroy();
    web.destroy();
    await eventually(() => accepted() === 0);
    expect(gateway.connections.map(({ bytesReceived }) => bytesReceived)).to.deep.equal([hello.length]);
  });

  it("a TLS route terminates TLS and relays cleartext and a half-close", async () => {
    await start({
      tls: [terminate(exact("end.example.com"))],
      certificates: certificates("end.example.com"),
    });
    expect(await talk("end.example.com", "hello")).to.equal("plain hello");
  });

  it("a TLS route relays a half-close that arrived before the backend was connected", async () => {
    const ending = await startTcp((socket) => void socket.resume().on("end", () => socket.end("bye")));
    await start({
      endpoints: { [plain]: [ending.port] },
      tls: [terminate(exact("end.example.com"))],
      certificates: certificates("end.example.com"),
    });
    expect(await talk("end.example.com", "")).to.equal("bye");
    await ending.close();
  });

  it("one port serves passthrough, termination and HTTPS by server name", async () => {
    await start({
      tls: [
        passthrough(wildcard("*.example.com")),
        terminate(exact("end.example.com")),
        { ...exact("web.example.com"), mode: "http" },
      ],
      https: true,
      certificates: certificates("end.example.com", "web.example.com"),
    });
    expect(await talk("through.example.com")).to.equal("backend through.example.com");
    expect(await talk("end.example.com", "x")).to.equal("plain x");
    const request = "GET / HTTP/1.1\r\nHost: web.example.com\r\nConnection: close\r\n\r\n";
    expect(await talk("web.example.com", request)).to.match(/^HTTP\/1.1 404/);
    expect(await talk("other.org")).to.match(/UNRECOGNIZED_NAME/);
  });

  it("a TLS route that terminates TLS negotiates no application protocol", async () => {
    await start({
      tls: [terminate(exact("end.example.com"))],
      certificates: certificates("end.example.com"),
    });
    const socket = dialTls("end.example.com", { ALPNProtocols: ["mqtt"] });
    await once(socket, "secureConnect");
    expect(socket.alpnProtocol).to.equal(false);
  });

  it("clients with an unknown server name, with none, or with one without a route are reset", async () => {
    await start({
      tls: [
        passthrough(exact("through.example.com")),
        { ...exact("empty.example.com"), mode: "passthrough" },
      ],
    });
    expect(await talk("other.example.com")).to.equal("[ECONNRESET]");
    expect(await talk("empty.example.com")).to.equal("[ECONNRESET]");
    expect(await talk(undefined)).to.equal("[ECONNRESET]");
    expect((await gateway.samples("svc_proxy_tls_handshakes_total")).join("\n")).to.contain(
      'result="fail",version="unknown"} 3',
    );
  });

  it("a TLS listener for every host serves clients without a server name", async () => {
    await start({ tls: [passthrough(anyHost)] });
    expect(await talk(undefined)).to.equal("backend false");
  });

  it("a TLS listener resets clients that do not speak TLS or send a ClientHello of more than 16 KiB", async () => {
    await start({ tls: [passthrough(anyHost)] });
    const first = dialPlain();
    first.socket.write("GET / HTTP/1.1\r\n\r\n");
    expect(await first.ended).to.equal("ECONNRESET");
    const hello = Buffer.alloc(5 + 16_384);
    hello.set([22, 3, 1, 0x40, 0, 1, 0, 0x60, 0]);
    const second = dialPlain();
    second.socket.write(hello);
    expect(await second.ended).to.equal("ECONNRESET");
  });

  it("a TLS route accepts a ClientHello that arrives byte by byte", async () => {
    await start({ tls: [passthrough(anyHost)] });
    const hello = await capturedHello({ servername: "through.example.com" });
    const { socket } = dialPlain();
    socket.setNoDelay(true);
    for (const byte of hello) socket.write(Buffer.from([byte]));
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer[0]).to.equal(22);
  });

  it("a TLS listener closes connections whose ClientHello does not arrive in time", async () => {
    await start({ tls: [passthrough(anyHost)] }, "--proxy-tls-handshake-timeout=50ms");
    const { socket, ended } = dialPlain();
    socket.write(Buffer.from([22, 3, 1]));
    expect(await ended).to.be.oneOf(["closed", "ECONNRESET"]);
  });

  it("a TLS route resets clients when the backend resets", async () => {
    const resetting = await startTcp((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await start({
      endpoints: { [plain]: [resetting.port] },
      tls: [terminate(exact("end.example.com"))],
      certificates: certificates("end.example.com"),
    });
    const socket = dialTls("end.example.com");
    const failed = new Promise((resolve) => socket.once("error", resolve));
    socket.write("x");
    expect(await failed).to.include({ code: "ECONNRESET" });
    await resetting.close();
  });

  it("a TLS route changes mode and backend on the same socket without touching open connections", async () => {
    const echo = await startTcp((socket) => socket.pipe(socket));
    await start({
      endpoints: { ...endpoints, "ns/echo/7": [echo.port] },
      tls: [{ ...exact("end.example.com"), mode: "terminate", route: l4Route(["ns/echo/7", 1]) }],
      certificates: certificates("end.example.com"),
    });
    const { tlsPort } = gateway;
    const open = dialTls("end.example.com");
    open.write("one");
    await once(open, "data");
    await gateway.update({ endpoints, tls: [passthrough(exact("end.example.com"))] });
    expect(gateway.tlsPort).to.equal(tlsPort);
    expect(await talk("end.example.com")).to.equal("backend end.example.com");
    open.write("two");
    const [chunk] = (await once(open, "data")) as [Buffer];
    expect(chunk.toString()).to.equal("two");
    open.destroy();
    await eventually(() => open.destroyed);
    await echo.close();
  });
});
