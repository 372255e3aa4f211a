/**
 * The backend of the examples, on one port: says its name and what it received, over HTTP/1.1, HTTP/2 without TLS and
 * WebSocket. `?status=503` sets the status. Pods run this file as it is; `make run` runs it on this machine.
 */
import { createHash } from "node:crypto";
import { createServer as createHttpServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";

/** Returns a server that is not listening yet. */
export function createEchoServer(name: string): Server {
  const http1 = createHttpServer(({ method = "", url = "", headers }, response) => {
    response.writeHead(statusOf(url), { "content-type": "text/plain" });
    response.end(describe(name, method, url, headers));
  });
  http1.on("upgrade", ({ headers }, socket: Socket) => {
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
    // One final text frame, then one that closes (RFC 6455 5.2).
    socket.end(Buffer.concat([Buffer.from([0x81, text.length]), Buffer.from(text), Buffer.from([0x88, 0])]));
  });
  const http2 = createHttp2Server();
  http2.on("stream", (stream, headers) => {
    const { ":method": method = "", ":path": path = "", "content-type": type = "" } = headers;
    stream.on("error", () => stream.destroy());
    stream.resume();
    if (type.startsWith("application/grpc")) {
      stream.respond({ "content-type": type, "echo-backend": name, "grpc-status": "0" }, { endStream: true });
      return;
    }
    stream.respond({ ":status": statusOf(path), "content-type": "text/plain" });
    stream.end(describe(name, method, path, headers));
  });
  return createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      // "PRI * HTTP/2.0" announces HTTP/2 (RFC 9113 3.4).
      const isHttp2 = first.toString("latin1").startsWith("PRI ");
      (isHttp2 ? http2 : http1).emit("connection", socket);
      if (!isHttp2) socket.resume();
    });
  });
}

const describe = (name: string, method: string, path: string, headers: IncomingHttpHeaders): string =>
  [
    `${name} ${method} ${path}`,
    ...Object.entries(headers).map(([field, value]) => `${field}: ${String(value)}`),
    "",
  ].join("\n");

const statusOf = (path: string): number => Number(/[?&]status=([2-5]\d\d)(?:&|$)/.exec(path)?.[1] ?? 200);

/** RFC 6455 4.2.2. */
const acceptOf = (key: string): string =>
  createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");

if (import.meta.main)
  createEchoServer(process.env["NAME"] ?? "echo").listen(Number(process.env["PORT"] ?? 8080));
