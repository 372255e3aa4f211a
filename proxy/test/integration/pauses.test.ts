import { createSocket } from "node:dgram";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { awake } from "../../src/timing/awake-clock.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { capturedHello } from "../tls/harness.ts";
import { eventually, startGateway, startTcp } from "./gateway.ts";
import { l4Route, startL4 } from "./l4.ts";

const minute = "1m";
const pauseMs = 600_000;

/** A process that continues after a stop finds all timers due before it reads the data that has arrived. */
describeCodecs("a process that could not run for ten minutes", () => {
  const stop: (() => unknown)[] = [];
  const realNow = performance.now;
  let skewMs = 0;
  let lostMs = 0;

  beforeEach(() => {
    skewMs = 0;
    ({ lostMs } = awake);
    performance.now = () => realNow.call(performance) + skewMs;
  });

  afterEach(async () => {
    for (const each of stop.splice(0).toReversed()) await each();
    performance.now = realNow;
    // The time was never lost, and is back.
    awake.lostMs = lostMs;
  });

  const dial = (port: number): { readonly socket: Socket; text: string } => {
    const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true });
    const dialed = { socket, text: "" };
    socket.on("error", (error: NodeJS.ErrnoException) => (dialed.text += `[${error.code}]`));
    socket.on("data", (chunk: Buffer) => (dialed.text += chunk.toString("latin1")));
    stop.push(() => socket.destroy());
    return dialed;
  };

  /** Lets the clock jump, and waits until everything that observes it has done so many times. */
  const pause = async (): Promise<void> => {
    let looks = 0;
    const { look } = awake;
    awake.look = () => {
      looks++;
      look.call(awake);
    };
    // The look before this one may have seen the clock of another test.
    awake.look();
    const before = awake.lostMs;
    skewMs += pauseMs;
    await eventually(() => looks > 60);
    awake.look = look;
    expect(awake.lostMs - before).to.be.within(pauseMs - 1000, pauseMs + 60_000);
  };

  it("a pause of the process is not taken for slowness of clients and backends over HTTP", async () => {
    const heads: string[] = [];
    const sockets: Socket[] = [];
    const server = await startTcp((socket) => {
      sockets.push(socket);
      socket.on("data", (chunk: Buffer) => heads.push(chunk.toString("latin1")));
    });
    stop.push(() => server.close());
    const gateway = await startGateway({ ports: [server.port] }, [
      `--proxy-client-header-timeout=${minute}`,
      `--proxy-client-body-timeout=${minute}`,
      `--proxy-client-idle-timeout=${minute}`,
      `--proxy-stream-idle-timeout=${minute}`,
      // Short only so that the proxy sweeps often.
      "--proxy-udp-session-timeout=100ms",
    ]);
    stop.push(() => gateway.close());
    const silent = dial(gateway.port);
    const head = dial(gateway.port);
    head.socket.write("GET /head HTTP/1.1\r\nHost: a.exa");
    const body = dial(gateway.port);
    body.socket.write("POST /body HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\nhello");
    const waiting = dial(gateway.port);
    waiting.socket.write("GET /waiting HTTP/1.1\r\nHost: a.example\r\n\r\n");
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    stop.push(() => session.destroy());
    const stream = session.request({ ":method": "POST", ":path": "/h2", ":authority": "a.example" });
    stop.push(() => stream.destroy());
    let answered = 0;
    stream.on("response", (headers) => (answered = Number(headers[":status"])));
    stream.on("error", () => undefined);
    stream.write("hello");
    await eventually(() => ["/body", "/waiting", "/h2"].every((path) => heads.join("").includes(path)));
    await eventually(() => heads.join("").split("hello").length === 3);

    await pause();

    silent.socket.write("GET /silent HTTP/1.1\r\nHost: a.example\r\n\r\n");
    head.socket.write("mple\r\n\r\n");
    body.socket.write("world");
    stream.end("world");
    await eventually(() => heads.join("").split("world").length === 3 && sockets.length === 5);
    for (const socket of sockets) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    await eventually(() => [silent, head, body, waiting].every(({ text }) => text !== "") && answered > 0);
    for (const { text } of [silent, head, body, waiting]) expect(text).to.match(/^HTTP\/1\.1 200 /);
    expect(answered).to.equal(200);
    expect((await gateway.metrics.expose()).body).not.to.contain("svc_proxy_limits_reached_total{");
  });

  it("a pause of the process ends no connection, session or handshake below HTTP", async () => {
    const [set, udpSet] = ["ns/db/5432", "ns/dns/53/udp"] as const;
    const server = await startTcp((socket) => socket.pipe(socket));
    stop.push(() => server.close());
    const backend = createSocket("udp4");
    backend.bind(0, "127.0.0.1");
    await once(backend, "listening");
    stop.push(() => backend.close());
    backend.on("message", (message, { port }) => backend.send(message, port, "127.0.0.1"));
    const { chainPem, keyPem } = issueCertificate(["end.example.com"]);
    const host = { kind: "exact", host: "end.example.com" } as const;
    const gateway = await startL4(
      {
        tcp: l4Route([set, 1]),
        udp: l4Route([udpSet, 1]),
        tls: [{ ...host, mode: "terminate", route: l4Route([set, 1]) }],
        certificates: {
          certificates: { demo: { chainPem, keyPem } },
          hosts: [{ bucket: "exact", host: host.host, certificates: ["demo"] }],
        },
        endpoints: { [set]: [server.port], [udpSet]: [backend.address().port] },
      },
      [
        `--proxy-tunnel-idle-timeout=${minute}`,
        `--proxy-udp-session-timeout=${minute}`,
        `--proxy-tls-handshake-timeout=${minute}`,
        // Short only so that the proxy sweeps often.
        "--proxy-stream-idle-timeout=100ms",
      ],
    );
    stop.push(() => gateway.close());
    const tcp = dial(gateway.tcpPort);
    tcp.socket.write("one");
    await eventually(() => tcp.text === "one");
    const udp = createSocket("udp4");
    udp.connect(gateway.udpPort, "127.0.0.1");
    stop.push(() => udp.close());
    await once(udp, "connect");
    const echoed: string[] = [];
    udp.on("message", (message) => echoed.push(message.toString()));
    udp.send("one");
    await eventually(() => echoed.length === 1);
    const hello = await capturedHello({ servername: host.host });
    const tls = dial(gateway.tlsPort);
    tls.socket.write(hello.subarray(0, 20));
    await once(tls.socket, "connect");

    await pause();

    tcp.socket.write("two");
    udp.send("two");
    tls.socket.write(hello.subarray(20));
    await eventually(() => tcp.text !== "one" && echoed.length === 2 && tls.text !== "");
    expect(tcp.text).to.equal("onetwo");
    // A handshake record, and no alert.
    expect(tls.text.charCodeAt(0)).to.equal(22);
    expect(gateway.metrics.udpSessions.with({ listener: "5300" }).value).to.equal(1);
  });
});
