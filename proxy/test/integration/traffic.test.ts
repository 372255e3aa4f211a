import { once } from "node:events";
import { createServer as createHttpServer, request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { expect } from "chai";
import { describeCodecs } from "../http1-codecs.ts";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { WebSocket, WebSocketServer } from "ws";
import { issueCertificate } from "../tls/certificates.ts";
import { eventually, exchange, routeId, startGateway, startTcp, type Gateway } from "./gateway.ts";

const host = "a.example";

function testCertificate(): { readonly chainPem: string; readonly keyPem: string } {
  const { chainPem, keyPem } = issueCertificate([host]);
  return { chainPem, keyPem };
}

async function text(message: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of message) body += String(chunk);
  return body;
}

async function fetchVia(
  port: number,
  options: object,
  body?: string,
): Promise<{ message: IncomingMessage; body: string }> {
  const request = httpRequest({ host: "127.0.0.1", port, headers: { host }, agent: false, ...options });
  request.end(body);
  const [message] = (await once(request, "response")) as [IncomingMessage];
  return { message, body: await text(message) };
}

describeCodecs("traffic through the whole data plane", () => {
  let gateway: Gateway;
  let stop: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const each of stop.toReversed()) await each();
    stop = [];
  });

  const serveHttp = async (listener: Parameters<typeof createHttpServer>[1]): Promise<number> => {
    const server = createHttpServer(listener);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stop.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const start = async (...given: Parameters<typeof startGateway>): Promise<void> => {
    gateway = await startGateway(...given);
    const started = gateway;
    stop.push(() => started.close());
  };

  it("an HTTP/1.1 request with body, fields and trailers is forwarded and logged", async () => {
    const port = await serveHttp(async (request, response) => {
      const body = await text(request);
      response.writeHead(201, {
        "X-Saw": `${request.method} ${request.url} ${request.headers.host}`,
        Trailer: "X-Sum",
      });
      response.write(`${request.headers["x-forwarded-for"]} ${request.headers["x-forwarded-proto"]} `);
      response.addTrailers({ "X-Sum": String(body.length) });
      response.end(body);
    });
    await start({ ports: [port] });
    const { message, body } = await fetchVia(gateway.port, { method: "POST", path: "/p/../q?x=1" }, "hello");
    expect(message.statusCode).to.equal(201);
    expect(message.headers["x-saw"]).to.equal("POST /q?x=1 a.example");
    expect(body).to.equal("127.0.0.1 http hello");
    expect(message.trailers["x-sum"]).to.equal("5");
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]).to.deep.include({
      host,
      method: "POST",
      path: "/q",
      status: 201,
      routeId,
      upstream: "ns/web",
      upstreamAddr: `127.0.0.1:${port}`,
      bytesSent: body.length,
      attempts: 1,
    });
  });

  it("pipelined requests are answered in order over reused upstream connections", async () => {
    const port = await serveHttp((request, response) => void response.end(request.url));
    await start({ ports: [port] });
    const requests = ["/1", "/2", "/3"]
      .map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
      .join("");
    const last = `GET /4 HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const answers = await exchange(gateway.port, requests + last);
    expect([...answers.matchAll(/\r\n\r\n(\/\d)/g)].map((match) => match[1])).to.deep.equal([
      "/1",
      "/2",
      "/3",
      "/4",
    ]);
    expect(gateway.metrics.upstreamConnections.with({ state: "reused" }).value).to.equal(3);
  });

  it("HTTP/1.1 and HTTP/2 over TLS reach h2c backends over HTTP/2, including gRPC trailers", async () => {
    const server = createHttp2Server();
    server.on("stream", (stream, headers) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () =>
        stream.sendTrailers({ "grpc-status": "0", "x-te": String(headers["te"]) }),
      );
      stream.pipe(stream);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stop.push(async () => void server.close());
    const certificate = testCertificate();
    await start({ ports: [(server.address() as AddressInfo).port], protocol: "http2", certificate });

    const session = connectHttp2(`https://127.0.0.1:${gateway.tlsPort}`, {
      servername: host,
      rejectUnauthorized: false,
    });
    const stream = session.request({
      ":method": "POST",
      ":path": "/s.S/M",
      ":authority": host,
      te: "trailers",
      "content-type": "application/grpc",
    });
    stream.end("message");
    const trailers = once(stream, "trailers");
    let body = "";
    for await (const chunk of stream) body += String(chunk);
    expect(body).to.equal("message");
    expect((await trailers)[0]).to.include({ "grpc-status": "0", "x-te": "trailers" });
    session.close();

    const https = httpsRequest({
      host: "127.0.0.1",
      port: gateway.tlsPort,
      servername: host,
      headers: { host },
      rejectUnauthorized: false,
      method: "POST",
      agent: false,
    });
    https.end("abc");
    const [message] = (await once(https, "response")) as [IncomingMessage];
    expect(await text(message)).to.equal("abc");
  });

  it("the 100 of an h2c backend reaches the client once", async () => {
    // Answers `Expect: 100-continue` by itself.
    const server = createHttp2Server(
      (request, response) => void request.on("end", () => response.end("whole")).resume(),
    );
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stop.push(async () => void server.close());
    await start({ ports: [(server.address() as AddressInfo).port], protocol: "http2" });
    const fields = `Host: ${host}\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n`;
    const answer = await exchange(gateway.port, `POST / HTTP/1.1\r\n${fields}\r\nabc`);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(["HTTP/1.1 100", "HTTP/1.1 200"]);
  });

  it("a WebSocket is upgraded, and its tunnel is logged when it ends", async () => {
    const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(sockets, "listening");
    stop.push(async () => sockets.close());
    sockets.on("connection", (socket) =>
      socket.on("message", (data) => socket.send(`echo ${(data as Buffer).toString()}`)),
    );
    await start({ ports: [(sockets.address() as AddressInfo).port] });
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/chat`, { headers: { host } });
    await once(socket, "open");
    socket.send("hi");
    const [data] = await once(socket, "message");
    expect(String(data)).to.equal("echo hi");
    expect(gateway.records).to.have.length(0);
    socket.close();
    await once(socket, "close");
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]?.status).to.equal(101);
    // Two frames of the server, the answer and the close, with heads of two bytes.
    expect(gateway.records[0]?.bytesSent).to.be.at.least(2 + "echo hi".length + 2);
  });

  it("a shutdown has logged the tunnels that it cut when it is over", async () => {
    const backend = await startTcp((socket) =>
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"),
      ),
    );
    stop.push(() => backend.close());
    await start({ ports: [backend.port] });
    const request = httpRequest({
      host: "127.0.0.1",
      port: gateway.port,
      headers: { host, Connection: "Upgrade", Upgrade: "websocket" },
    });
    request.on("error", () => {});
    request.end();
    const [, socket] = (await once(request, "upgrade")) as [IncomingMessage, Socket];
    socket.on("error", () => {});
    await gateway.proxy.shutdown(AbortSignal.abort());
    expect(gateway.records.map(({ status, error }) => [status, error])).to.deep.equal([[101, "shutdown"]]);
    socket.destroy();
  });

  it("a truncated response never looks complete to the client", async () => {
    const backend = await startTcp((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")),
    );
    stop.push(() => backend.close());
    await start({ ports: [backend.port] });
    const failed = await fetchVia(gateway.port, {}).then(
      () => false,
      () => true,
    );
    expect(failed).to.equal(true);
    await eventually(() => gateway.records.length === 1);
    expect(gateway.records[0]?.error).not.to.equal(undefined);
  });

  it("a request gets 502 when nothing listens, 503 without endpoints and 404 for another host", async () => {
    const refusing = await holdRefusingPort();
    stop.push(async () => refusing.close());
    await start({ ports: [refusing.port] });
    expect((await fetchVia(gateway.port, {})).message.statusCode).to.equal(502);
    expect((await fetchVia(gateway.port, { headers: { host: "b.example" } })).message.statusCode).to.equal(
      404,
    );
    gateway.update({ ports: [] });
    expect((await fetchVia(gateway.port, {})).message.statusCode).to.equal(503);
    const errors = { listener: "80", route: routeId, upstream: "ns/web", error_type: "refused" };
    expect(gateway.metrics.upstreamErrors.with(errors).value).to.equal(1);
  });

  it("a declared body over the limit gets 413 without an upstream connection, and a streamed one gets 413 as well", async () => {
    let bytes = 0;
    const backend = await startTcp((socket) => socket.on("data", (chunk: Buffer) => (bytes += chunk.length)));
    stop.push(() => backend.close());
    await start({ ports: [backend.port], features: { "max-body-size": { maxBytes: 4 } } });
    const declared = `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\n\r\nabcde`;
    expect(await exchange(gateway.port, declared)).to.match(/^HTTP\/1\.1 413 /);
    expect(bytes).to.equal(0);
    const chunked = `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n`;
    expect(await exchange(gateway.port, chunked)).to.match(/^HTTP\/1\.1 413 /);
  });

  it("a streamed body over the limit gets 413 on HTTP/2, and other streams of the connection continue", async () => {
    const port = await serveHttp((request, response) => {
      request.on("error", () => {});
      request.resume().on("end", () => response.end("ok"));
    });
    await start({ ports: [port], features: { "max-body-size": { maxBytes: 4 } } });
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    stop.push(async () => session.destroy());
    /** Pieces without a declared length; a body over the limit is never ended. */
    const send = async (...pieces: readonly string[]): Promise<number> => {
      const stream = session.request({ ":method": "POST", ":authority": host });
      stream.on("error", () => {});
      for (const piece of pieces) stream.write(piece);
      if (pieces.join("").length <= 4) stream.end();
      const [head] = (await once(stream, "response")) as [{ readonly ":status": number }];
      stream.resume();
      return head[":status"];
    };
    expect(await send("abc", "de")).to.equal(413);
    expect(await send("ab", "cd")).to.equal(200);
    expect(await send()).to.equal(200);
    expect(await send("abcdefgh")).to.equal(413);
  });

  it("a body that stops arriving gets 408 on HTTP/2 and a malformed path 400, and other streams continue", async () => {
    let answerSlow: (() => void) | undefined;
    const port = await serveHttp((request, response) => {
      request.on("error", () => {});
      if (request.method === "GET") answerSlow = () => response.end("slow");
    });
    await start({ ports: [port] }, ["--proxy-client-body-timeout=50ms"]);
    const session = connectHttp2(`http://127.0.0.1:${gateway.port}`);
    stop.push(async () => session.destroy());
    let goaway = false;
    session.on("goaway", () => (goaway = true));
    const send = (fields: object, piece?: string) => {
      const stream = session.request({ ":authority": host, ...fields }, { endStream: piece === undefined });
      stream.on("error", () => {});
      if (piece !== undefined) stream.write(piece);
      return stream;
    };
    const statusOf = async (stream: ReturnType<typeof send>): Promise<number> => {
      const [head] = (await once(stream, "response")) as [{ readonly ":status": number }];
      return head[":status"];
    };
    const slow = statusOf(send({ ":path": "/slow" }));
    await eventually(() => answerSlow !== undefined);
    expect(await statusOf(send({ ":method": "POST" }, "begun"))).to.equal(408);
    expect(await statusOf(send({ ":path": "/%zz" }))).to.equal(400);
    answerSlow?.();
    expect(await slow).to.equal(200);
    expect(goaway).to.equal(false);
  });

  it("the proxy stops reading a fast upstream when the client does not read", async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, "x");
    const backend = await startTcp((socket) => {
      const pump = (): void => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
        sent += chunk.length;
      };
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        socket.on("drain", pump);
        pump();
      });
    });
    stop.push(() => backend.close());
    await start({ ports: [backend.port] });
    const client = connect({ host: "127.0.0.1", port: gateway.port });
    client.on("error", () => {});
    client.pause();
    client.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    // Nothing moves any more once kernel buffers and the proxy's share are full.
    let last = -1;
    let same = 0;
    while (same < 20) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      same = sent === last ? same + 1 : 0;
      last = sent;
    }
    // The rest are the buffers of four kernel sockets.
    expect(sent).to.be.lessThan(256 * 1024 * 1024);
    client.destroy();
  });

  it("no request fails during route, endpoint and certificate changes", async () => {
    const port = await serveHttp((_request, response) => void response.end("ok"));
    const other = await serveHttp((_request, response) => void response.end("ok"));
    const certificate = testCertificate();
    await start({ ports: [port], certificate });
    let failures = 0;
    let done = 0;
    let stopped = false;
    const client = async (): Promise<void> => {
      while (!stopped) {
        const { message } = await fetchVia(gateway.port, {}).catch(() => ({ message: { statusCode: 0 } }));
        if (message.statusCode !== 200) failures++;
        done++;
      }
    };
    const clients = Promise.all(Array.from({ length: 8 }, client));
    for (let edit = 0; edit < 100; edit++) {
      const target = done + 4;
      gateway.update({
        ports: edit % 3 === 0 ? [port] : edit % 3 === 1 ? [other] : [port, other],
        hosts: edit % 2 === 0 ? [host] : [host, `h${edit}.example`],
        certificate,
      });
      await eventually(() => done >= target);
    }
    stopped = true;
    await clients;
    expect(failures).to.equal(0);
  });
});
