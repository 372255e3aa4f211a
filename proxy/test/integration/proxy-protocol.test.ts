import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { addresses, tlv, version2 } from "../listeners/proxy-protocol/headers.ts";
import { issueCertificate } from "../tls/certificates.ts";
import { readUntil } from "../tls/harness.ts";
import { eventually, startGateway, startHttp, type Gateway, type HttpUpstream } from "./gateway.ts";

const accepting = "--proxy-accept-proxy-protocol";
const get = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
const client = version2(addresses([203, 0, 113, 5], 4711), { transport: 0x11, tlvs: tlv(4, 40) });

describeCodecs("PROXY protocol", () => {
  let seen: IncomingMessage["headers"][] = [];
  let upstream: HttpUpstream;
  let gateway: Gateway;
  const sockets: Socket[] = [];

  before(async () => {
    upstream = await startHttp((request, response) => {
      seen.push(request.headers);
      response.end("ok");
    });
  });

  after(() => upstream.close());

  const start = async (...flags: readonly string[]): Promise<void> => {
    const certificate = issueCertificate(["a.example"]);
    gateway = await startGateway({ ports: [upstream.port], certificate }, [accepting, ...flags]);
  };

  const dial = (port: number): Socket => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    sockets.push(socket);
    return socket;
  };

  beforeEach(() => (seen = []));
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.close();
  });

  /** Sends these first bytes; resolves to the answer. */
  const talk = async (bytes: Buffer | string): Promise<string> => {
    const socket = dial(gateway.port);
    let text = "";
    socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    socket.write(bytes);
    await once(socket, "close");
    return text;
  };

  it("the client of the PROXY protocol header is shown to upstreams, policies and the access log", async () => {
    await start();
    expect(await talk(Buffer.concat([client, Buffer.from(get)]))).to.match(/^HTTP\/1.1 200 /);
    expect(seen[0]).to.include({
      "x-forwarded-for": "203.0.113.5",
      "x-real-ip": "203.0.113.5",
      forwarded: 'for="203.0.113.5:4711";proto=http',
    });
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]?.clientIp).to.equal("203.0.113.5");
    gateway.update({
      ports: [upstream.port],
      features: { "ip-access-control": { deny: ["203.0.113.0/24"], allow: ["2001:db8::/32"] } },
    });
    expect(await talk(`PROXY TCP4 203.0.113.9 192.0.2.1 1 80\r\n${get}`)).to.match(/^HTTP\/1.1 403 /);
    expect(await talk(`PROXY TCP6 2001:db8::5 ::1 99 80\r\n${get}`)).to.match(/^HTTP\/1.1 200 /);
    expect(seen[1]?.["forwarded"]).to.equal('for="[2001:db8::5]:99";proto=http');
  });

  it("a connection of the load balancer itself keeps its own address", async () => {
    await start();
    const local = version2(Buffer.alloc(0), { command: 0x20, transport: 0 });
    expect(await talk(Buffer.concat([local, Buffer.from(get)]))).to.match(/^HTTP\/1.1 200 /);
    expect(seen[0]).to.include({ "x-forwarded-for": "127.0.0.1" });
    expect(seen[0]).to.not.have.property("forwarded");
  });

  it("a PROXY protocol header that arrives byte by byte is read", async () => {
    await start();
    const socket = dial(gateway.port);
    socket.setNoDelay(true);
    const text = readUntil(socket, /\r\n\r\n/);
    for (const byte of Buffer.concat([client, Buffer.from(get)])) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await text).to.match(/^HTTP\/1.1 200 /);
    expect(seen[0]?.["x-forwarded-for"]).to.equal("203.0.113.5");
  });

  it("connections without a PROXY protocol header, or with a malformed one, are closed", async () => {
    await start();
    const limit = (): number => gateway.metrics.limitsReached.with({ limit: "proxy-protocol-header" }).value;
    expect(await talk(get)).to.equal("");
    expect(await talk(`PROXY TCP4 nobody 192.0.2.1 1 80\r\n${get}`)).to.equal("");
    expect(limit()).to.equal(2);
    const gone = dial(gateway.port);
    gone.end();
    await once(gone, "close");
    expect(limit()).to.equal(2);
    expect(seen).to.have.length(0);
  });

  it("a PROXY protocol header is accepted from trusted peers only", async () => {
    await start("--proxy-protocol-trusted-cidrs", "192.0.2.0/24");
    expect(await talk(Buffer.concat([client, Buffer.from(get)]))).to.equal("");
    expect(gateway.metrics.limitsReached.with({ limit: "proxy-protocol-peer" }).value).to.equal(1);
    await gateway.close();
    await start("--proxy-protocol-trusted-cidrs", "127.0.0.0/8");
    expect(await talk(Buffer.concat([client, Buffer.from(get)]))).to.match(/^HTTP\/1.1 200 /);
  });

  for (const together of [true, false]) {
    const how = together ? "together with" : "before";
    it(`a PROXY protocol header is read before TLS, ${how} the ClientHello`, async () => {
      await start();
      const socket = dial(gateway.tlsPort);
      await once(socket, "connect");
      if (together) socket.cork();
      socket.write(client);
      const options = { socket, servername: "a.example", rejectUnauthorized: false };
      const secure = connectTls({ ...options, ALPNProtocols: ["http/1.1"] });
      secure.on("error", () => {});
      secure.write(get);
      if (together) process.nextTick(() => socket.uncork());
      expect(await readUntil(secure, /\r\n\r\n/)).to.match(/^HTTP\/1.1 200 /);
      expect(seen[0]?.["forwarded"]).to.equal('for="203.0.113.5:4711";proto=https');
    });
  }

  for (const secure of [true, false]) {
    it(`a PROXY protocol header is read before HTTP/2, ${secure ? "over TLS" : "with prior knowledge"}`, async () => {
      await start();
      const socket = dial(secure ? gateway.tlsPort : gateway.port);
      await once(socket, "connect");
      socket.write(client);
      const session = connectHttp2(`${secure ? "https" : "http"}://a.example`, {
        createConnection: () =>
          secure
            ? connectTls({
                socket,
                servername: "a.example",
                rejectUnauthorized: false,
                ALPNProtocols: ["h2"],
              })
            : socket,
      });
      session.on("error", () => {});
      const stream = session.request({ ":path": "/" });
      const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
      expect(headers[":status"]).to.equal(200);
      stream.resume();
      await once(stream, "close");
      expect(seen[0]?.["x-forwarded-for"]).to.equal("203.0.113.5");
      session.destroy();
    });
  }
});
