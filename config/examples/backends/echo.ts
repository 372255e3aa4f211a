/**
 * The backend of the examples, on one port: returns its name and the request that it received, over HTTP/1.1, HTTP/2
 * without TLS, WebSocket and TLS. Datagrams are returned with the name in front. Pods run this file unchanged; `make
 * run` runs it on this machine. answers.ts lists the other responses.
 */
import { createHash } from "node:crypto";
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { createAnswers, type Received } from "./answers.ts";

/** Returns a server that is not listening yet. */
export function createEchoServer(name: string): Server {
  const answer = createAnswers(name);
  const http1 = createHttpServer((request, response) => {
    void answer(receivedOf(request)).then(({ status, headers, body }) => {
      response.writeHead(status, { "content-type": "text/plain", ...headers });
      response.end(body);
    });
  });
  http1.on("upgrade", ({ headers }, socket: Socket) => greet(name, headers, socket));
  const http2 = createHttp2Server();
  http2.on("stream", (stream, headers) => {
    const { ":method": method = "", ":path": url = "", "content-type": type = "" } = headers;
    stream.on("error", () => stream.destroy());
    stream.resume();
    if (type.startsWith("application/grpc")) {
      stream.respond({ "content-type": type, "echo-backend": name, "grpc-status": "0" }, { endStream: true });
      return;
    }
    void answer({ method, url, headers }).then(({ status, headers: own, body }) => {
      if (stream.destroyed) return;
      stream.respond({ ":status": status, "content-type": "text/plain", ...own });
      stream.end(body);
    });
  });
  // The key pair is example material, as is every private key of these folders.
  const read = (file: string): Buffer => readFileSync(join(import.meta.dirname, file));
  const tls = createTlsServer({ cert: read("backend.crt"), key: read("backend.key") }, (socket) => {
    socket.on("error", () => socket.destroy());
    http1.emit("connection", socket);
  });
  tls.on("tlsClientError", (_error, socket) => socket.destroy());
  return createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      const server = serverFor(first);
      server.emit("connection", socket);
      if (server === http1) socket.resume();
    });
  });

  /** A handshake record begins with 22 (RFC 8446 5.1), and "PRI * HTTP/2.0" announces HTTP/2 (RFC 9113 3.4). */
  function serverFor(first: Buffer): Server {
    if (first[0] === 22) return tls;
    return first.toString("latin1").startsWith("PRI ") ? http2 : http1;
  }
}

/** Returns a socket that is not bound yet. */
export function createEchoDatagrams(name: string): DatagramSocket {
  const datagrams = createSocket("udp4");
  datagrams.on("message", (message, { port, address }) => {
    datagrams.send(`${name} ${message.toString()}`, port, address);
  });
  return datagrams;
}

function receivedOf({ method = "", url = "", headers, socket }: IncomingMessage): Received {
  const serverName = socket instanceof TLSSocket ? String(socket.servername) : undefined;
  return { method, url, headers, serverName };
}

/** Accepts a WebSocket, and sends one final text frame and a close frame (RFC 6455 5.2). */
function greet(name: string, headers: IncomingHttpHeaders, socket: Socket): void {
  const text = `hello from ${name}`;
  socket.on("error", () => socket.destroy());
  socket.write(
    [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${acceptOf(headers["sec-websocket-key"] ?? "")}`,
      "\r\n",
    ].join("\r\n"),
  );
  socket.end(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text), Buffer.from([0x88, 0])]));
}

/** The value of `Sec-WebSocket-Accept` for a key (RFC 6455 4.2.2). */
const acceptOf = (key: string): string =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

if (import.meta.main) {
  const [name, port] = [process.env["NAME"] ?? "echo", Number(process.env["PORT"] ?? 8080)];
  createEchoServer(name).listen(port);
  createEchoDatagrams(name).bind(port);
}
