/** The results of reading the bytes of a connection with either codec. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { FrontConnections } from "../../../../src/http/h1/front-connections.ts";
import { readFraming } from "../../../../src/http/h1/node/framing.ts";
import type { FrontLimits } from "../../../../src/http/front.ts";
import type { HeaderList } from "../../../../src/message/message.ts";
import { Http1Connection } from "../../../../src/http/h1/native/connection.ts";
import { codecContext } from "../../../../src/http/h1/native/front.ts";
import type { Transport, TransportReceiver } from "../../../../src/sockets/transport.ts";
import { answer, testListener, wideLimits } from "../harness.ts";

export type ReadMessage = {
  readonly version: string;
  readonly method: string;
  readonly target: string;
  readonly headers: HeaderList;
  readonly body: string;
  readonly trailers: HeaderList;
};

/** The complete requests, and whether the bytes after them were refused or end in the middle of a request. */
export type Reading = {
  readonly messages: readonly ReadMessage[];
  readonly end: "clean" | "refused";
  /** True if the codec closes the connection after the last message because of its fields. */
  readonly closes: boolean;
  /** The reason for a refusal by the native codec; empty for llhttp. */
  readonly reason: string;
};

const limits: FrontLimits = { ...wideLimits, maxRequestsPerConnection: 0 };

/** A connection without a socket: accepts all writes immediately, and reads the bytes that the test passes in. */
class TestTransport implements Transport {
  readonly reportsLate = false;
  readonly takesViews = false;
  readonly holdsBack = false;
  readonly hasUnread = false;
  readonly ended = false;
  readonly writable = true;
  readonly finished = false;
  readonly waitingBytes = 0;
  readonly takenBytes = 0;
  isPaused = false;
  isOver = false;
  receiver: TransportReceiver | undefined = undefined;

  start(receiver: TransportReceiver): void {
    this.receiver = receiver;
  }
  writeText(): void {}
  writeBytes(): void {}
  lendBytes(): void {}
  whenTaken(): void {}
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  end(): void {
    this.isOver = true;
  }
  destroy(): void {
    this.isOver = true;
  }
  reset(): void {
    this.isOver = true;
  }
  whenClosed(): never {
    throw new Error("no test upgrades");
  }
}

/** Reads pieces with the proxy's own codec. If `owned` is false, each piece is overwritten once it has been read. */
export function readByNative(pieces: readonly Buffer[], owned = true): Reading {
  const messages: ReadMessage[] = [];
  let reason = "";
  let open = 0;
  const front = new FrontConnections({
    limits,
    handler: (_, head, client) => {
      const { version, method, target } = head;
      const headers = [...head.headers.toList()];
      if (client.body === null) {
        messages.push({ version, method, target, headers, body: "", trailers: [] });
        return answer(client, "");
      }
      open++;
      let body = "";
      client.body.start({
        onData(chunk) {
          body += typeof chunk === "string" ? chunk : chunk.toString("latin1");
          return true;
        },
        onEnd(trailers = []) {
          open--;
          messages.push({ version, method, target, headers, body, trailers });
          answer(client, "");
        },
        onAbort: () => {},
      });
    },
    onEvent: (event) => (reason = event.reason),
  });
  const transport = new TestTransport();
  const connection = new Http1Connection(
    transport,
    { remoteAddress: "", remotePort: 0, proxied: false, listener: testListener(), tls: undefined },
    codecContext(front),
  );
  transport.start(connection);
  for (const piece of pieces) {
    if (transport.isOver) break;
    if (owned) connection.receive({ owned, bytes: Buffer.from(piece) });
    else {
      const borrowed = Buffer.from(piece);
      connection.receive({ owned, bytes: borrowed });
      borrowed.fill("!");
    }
  }
  const closes = transport.isOver && reason === "";
  if (!transport.isOver) connection.ended();
  // The client ended its side in the middle of a body.
  if (open > 0) reason ||= "incomplete";
  return { messages, end: reason === "" ? "clean" : "refused", closes: closes && open === 0, reason };
}

/** A socket for Node's server, whose bytes are available immediately. */
class TestSocket extends Duplex {
  /** The messages in the order of their heads; undefined until the end of a message. */
  readonly messages: (ReadMessage | undefined)[] = [];
  /** A CONNECT, after which nothing is read. Node reports it before the requests that precede it. */
  connect: ReadMessage | undefined = undefined;
  isRefused = false;
  /** True once a request was refused for its framing; later ones are ignored. */
  hasRefusedFraming = false;
  isClosed = false;

  override _read(): void {}
  override _write(_: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
}

let server: Server | undefined;

/** Returns Node's server with the settings that the front uses. */
function llhttpServer(): Server {
  if (server !== undefined) return server;
  const read = (request: IncomingMessage, response: ServerResponse): void => {
    const socket = request.socket as unknown as TestSocket;
    const { httpVersion, method = "", url = "", rawHeaders } = request;
    if (socket.hasRefusedFraming) return;
    // The front on Node's server makes this check.
    if (readFraming(httpVersion, url, rawHeaders, limits).kind === "refused") {
      socket.hasRefusedFraming = true;
      return;
    }
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString("latin1")));
    request.on("end", () => {
      const { rawTrailers: trailers } = request;
      socket.messages.push({
        version: httpVersion,
        method,
        target: url,
        headers: rawHeaders,
        body,
        trailers,
      });
      socket.isClosed ||= !response.shouldKeepAlive;
      response.end();
    });
  };
  server = createServer({
    maxHeaderSize: 2 * (limits.maxUriBytes + limits.maxHeaderBytes),
    requireHostHeader: false,
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
    shouldUpgradeCallback: () => false,
  });
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on("request", read);
  server.on("checkContinue", read);
  server.on("checkExpectation", read);
  server.on("connect", (request: IncomingMessage, socket: TestSocket) => {
    const { httpVersion: version, method = "", url: target = "", rawHeaders: headers } = request;
    if (readFraming(version, target, headers, limits).kind === "refused") {
      socket.hasRefusedFraming = true;
      return;
    }
    socket.connect = { version, method, target, headers, body: "", trailers: [] };
    socket.isClosed = true;
  });
  server.on("clientError", (_, socket) => {
    (socket as unknown as TestSocket).isRefused = true;
  });
  return server;
}

/** Reads bytes with llhttp, as used by Node's server. */
export async function readByLlhttp(bytes: Buffer): Promise<Reading> {
  const socket = new TestSocket({ allowHalfOpen: true });
  const over = new Promise<void>((resolve) => {
    socket.on("close", resolve);
    socket.on("finish", resolve);
  });
  socket.on("error", () => {});
  llhttpServer().emit("connection", socket);
  socket.push(bytes);
  socket.push(null);
  // A connection without a request does not end on its own.
  await Promise.race([over, afterTurns(12)]);
  const { isRefused, isClosed, hasRefusedFraming } = socket;
  if (socket.connect !== undefined && !hasRefusedFraming) socket.messages.push(socket.connect);
  socket.destroy();
  const incomplete = socket.messages.indexOf(undefined);
  const complete = incomplete < 0 ? socket.messages : socket.messages.slice(0, incomplete);
  const messages = complete.filter((message) => message !== undefined);
  return {
    messages,
    end: hasRefusedFraming || (isRefused && !isClosed) ? "refused" : "clean",
    closes: isClosed && !hasRefusedFraming,
    reason: "",
  };
}

async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}
