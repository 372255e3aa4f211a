/**
 * A backend that describes each request in its response. One port serves HTTP/1.1, HTTP/2 with prior knowledge,
 * WebSocket and gRPC:
 *
 * - an HTTP request is answered with JSON: the backend's name, method, path, headers and body; `?status=404` sets the
 *   status, `?delayMs=500` delays the response, and trailers of the request are also returned in the JSON;
 * - a WebSocket gets each of its messages back, after a first one with the name of the backend;
 * - a gRPC call of any method gets each of its messages back, then trailers (`echo.proto` describes a service for
 *   it); the request field `echo-grpc-status` sets the status.
 *
 *   scripts/node scripts/echo/backend.ts --name web --port 9101
 */
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import {
  constants,
  createServer as createHttp2Server,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { createServer as createTcpServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { WebSocketServer } from "ws";
import { createMessageReader, encodeMessage } from "./grpc-framing.ts";
import { listen, type Listening } from "./listen.ts";

export type EchoBackend = Listening;

export type EchoOptions = {
  /** The name of the backend in its responses. */
  readonly name: string;
  /** The port; 0, the default, uses a free one. */
  readonly port?: number;
  readonly host?: string;
};

/** The JSON of a response. */
export type EchoAnswer = {
  readonly backend: string;
  readonly protocol: string;
  readonly method: string;
  readonly path: string;
  readonly host: string;
  /** Every field line as received, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly bodyBytes: number;
  /** The body as text, up to 64 KiB. */
  readonly body: string;
  readonly trailers: Readonly<Record<string, string>>;
};

const maxShownBytes = 65_536;

/** Starts a backend on the loopback interface. */
export async function startEchoBackend({
  name,
  port = 0,
  host = "127.0.0.1",
}: EchoOptions): Promise<EchoBackend> {
  const http1 = createHttp1(name);
  const http2 = createHttp2(name);
  const server = createTcpServer((socket) => {
    socket.on("error", () => socket.destroy());
    // "PRI * HTTP/2.0" announces HTTP/2 (RFC 9113 3.4); no HTTP/1 method begins with "PRI".
    socket.once("data", (first: Buffer) => {
      socket.pause();
      socket.unshift(first);
      const isHttp2 = first.toString("latin1", 0, 3) === "PRI";
      (isHttp2 ? http2 : http1).emit("connection", socket);
      // An HTTP/2 session reads the bytes returned to the socket without a call of `resume`.
      if (!isHttp2) socket.resume();
    });
  });
  return listen(server, port, host);
}

function createHttp1(backend: string): Server {
  const server = createHttpServer((request, response) => {
    // A client that disconnects while it sends its body gets no response.
    void echoRequest(request, response, backend).catch(() => response.destroy());
  });
  const webSockets = new WebSocketServer({ server, maxPayload: 1_048_576 });
  webSockets.on("connection", (webSocket, { url = "", headers: { host = "" } }) => {
    webSocket.on("error", () => webSocket.terminate());
    webSocket.send(JSON.stringify({ backend, path: url, host }));
    webSocket.on("message", (data, isBinary) => webSocket.send(data, { binary: isBinary }));
  });
  return server;
}

async function echoRequest(
  request: IncomingMessage,
  response: ServerResponse,
  backend: string,
): Promise<void> {
  const body = await readBody(request);
  const { method = "", url = "" } = request;
  const { host = "" } = request.headers;
  const about = { backend, protocol: `HTTP/${request.httpVersion}`, method, path: url, host };
  const trailers = Object.fromEntries(
    Object.entries(request.trailers).map(([name, value]) => [name, String(value)]),
  );
  const answer = formatAnswer(about, { rawHeaders: request.rawHeaders, trailers }, body);
  if (delayOf(url) > 0) await setTimeout(delayOf(url));
  response.writeHead(statusOf(url), { "content-type": "application/json", "echo-backend": backend });
  response.end(answer);
}

function createHttp2(backend: string): Http2Server {
  const server = createHttp2Server();
  server.on("stream", (stream, headers, _flags, rawHeaders: readonly string[]) => {
    stream.on("error", () => stream.destroy());
    if (headers["content-type"]?.startsWith("application/grpc") === true) echoCall(stream, headers, backend);
    else void echoStream(stream, headers, rawHeaders, backend).catch(() => stream.destroy());
  });
  return server;
}

async function echoStream(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
  backend: string,
): Promise<void> {
  const trailers: Record<string, string> = {};
  stream.on("trailers", (fields) => Object.assign(trailers, fields));
  const body = await readBody(stream);
  const { ":method": method = "", ":path": path = "", ":authority": host = "" } = headers;
  const about = { backend, protocol: "HTTP/2", method, path, host };
  if (delayOf(path) > 0) await setTimeout(delayOf(path));
  stream.respond({ ":status": statusOf(path), "content-type": "application/json", "echo-backend": backend });
  stream.end(formatAnswer(about, { rawHeaders, trailers }, body));
}

/** Returns every message as it arrives; a call without messages is answered with the status only. */
function echoCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, backend: string): void {
  const status = String(headers["echo-grpc-status"] ?? "0");
  const trailers = { "grpc-status": status, "grpc-message": status === "0" ? "" : "as requested" };
  const head = { ":status": 200, "content-type": "application/grpc", "echo-backend": backend };
  if (status !== "0") {
    stream.respond({ ...head, ...trailers }, { endStream: true });
    stream.close(constants.NGHTTP2_NO_ERROR);
    return;
  }
  stream.respond(head, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers(trailers));
  const read = createMessageReader();
  stream.on("data", (chunk: Buffer) => {
    for (const message of read(chunk)) stream.write(encodeMessage(message));
  });
  stream.once("end", () => stream.end());
}

type About = Pick<EchoAnswer, "backend" | "protocol" | "method" | "path" | "host">;

function formatAnswer(
  about: About,
  { rawHeaders, trailers }: Pick<EchoAnswer, "trailers"> & { readonly rawHeaders: readonly string[] },
  body: Body,
): string {
  const headers: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    headers.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  const answer: EchoAnswer = { ...about, headers, bodyBytes: body.bytes, body: body.text, trailers };
  return `${JSON.stringify(answer, undefined, 2)}\n`;
}

type Body = { readonly bytes: number; readonly text: string };

async function readBody(stream: AsyncIterable<Buffer>): Promise<Body> {
  const shown: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    if (bytes < maxShownBytes) shown.push(chunk.subarray(0, maxShownBytes - bytes));
    bytes += chunk.length;
  }
  return { bytes, text: Buffer.concat(shown).toString("utf8") };
}

/** The status of `?status=NNN`, 200 by default. */
function statusOf(path: string): number {
  const wanted = Number(/[?&]status=([2-5][0-9][0-9])(?:&|$)/.exec(path)?.[1] ?? 200);
  return wanted;
}

/** The delay of `?delayMs`, at most 30 s, so that a failing test ends. */
const delayOf = (path: string): number =>
  Math.min(Number(/[?&]delayMs=(\d{1,6})(?:&|$)/.exec(path)?.[1] ?? 0), 30_000);

if (import.meta.main) {
  const { values } = parseArgs({
    options: { name: { type: "string", default: "echo" }, port: { type: "string", default: "0" } },
  });
  const { name } = values;
  const { port } = await startEchoBackend({ name, port: Number(values.port) });
  process.stdout.write(`${name} listens on 127.0.0.1:${port}\n`);
}
