import { createServer, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { ClientConnection } from "../../exchange/client-connection.ts";
import type { Front, FrontLimits, RequestHandler } from "../front.ts";
import { ResponseMemory } from "../response-memory.ts";
import { FrontClock } from "./clock.ts";
import { Http1Connection } from "./connection.ts";
import type { FrontContext } from "./context.ts";
import type { FrontEvent } from "./events.ts";
import { IncomingRequest } from "./incoming-request.ts";
import type { Http1Stream } from "./stream.ts";
import { asksForWebSocket } from "./upgrade-request.ts";

export type Http1FrontOptions = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  /** Hears what the front refuses or ends on its own. */
  readonly onEvent: (event: FrontEvent) => void;
  /** Counts the response bytes that wait for clients; without a bound unless given. */
  readonly responseMemory?: ResponseMemory;
};

/** How often deadlines are checked, at most; short timeouts are checked four times within their duration. */
const maxSweepIntervalMs = 500;
const minSweepIntervalMs = 10;
/** What the pipelined requests that wait for their turn may take, over all connections. */
const maxWaitingBytes = 25_165_824;
/** Head sizes that the parser accepts although they are over a limit, so that the answer can say which one. */
const headSlack = 2;
/** The parser gives up beyond this without saying why; fewer, but too many for the limit, are refused as such. */
const maxFieldsSeen = 1000;
/** The parser's bound where the limits are off. */
const defaultMaxHeadBytes = 1_048_576;

/** The HTTP/1.0 and HTTP/1.1 front on Node's own server, which never listens: sockets come from `accept`. */
export function createHttp1Front({
  limits,
  handler,
  onEvent,
  responseMemory = new ResponseMemory(),
}: Http1FrontOptions): Front {
  const clock = new FrontClock(sweepIntervalOf(limits));
  const connections = new Map<Socket, Http1Connection>();
  let sweeper: NodeJS.Timeout | undefined;
  let waitingBytes = 0;
  let draining = false;
  let unflushed: Http1Stream[] = [];

  const flush = (): void => {
    const streams = unflushed;
    unflushed = [];
    for (const stream of streams) stream.flush();
  };
  const context: FrontContext = {
    limits,
    clock,
    handler,
    responseMemory,
    get draining() {
      return draining;
    },
    report: onEvent,
    flushLater(stream) {
      if (unflushed.push(stream) === 1) process.nextTick(flush);
    },
    reserveWaiting(bytes) {
      if (waitingBytes + bytes > maxWaitingBytes) return false;
      waitingBytes += bytes;
      return true;
    },
    releaseWaiting(bytes) {
      waitingBytes -= bytes;
    },
    forget(socket) {
      connections.delete(socket);
      if (connections.size > 0) return;
      clearInterval(sweeper);
      sweeper = undefined;
    },
  };
  const sweep = (): void => {
    clock.refresh();
    for (const connection of connections.values()) connection.sweep();
    responseMemory.relieve();
  };

  const server = createServer({
    IncomingMessage: IncomingRequest,
    maxHeaderSize: parserBound(limits),
    requireHostHeader: false,
    insecureHTTPParser: false,
    optimizeEmptyRequests: true,
    keepAliveTimeout: 0,
    headersTimeout: 0,
    requestTimeout: 0,
    shouldUpgradeCallback: (request) =>
      asksForWebSocket(request) && connections.get(request.socket)?.openRequests === 0,
  });
  // Undocumented, but older than the documentation: a client that ended its side still gets its answer.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxHeadersCount = limits.maxHeaders === 0 ? 0 : Math.max(maxFieldsSeen, limits.maxHeaders + 1);

  const onRequest = (request: IncomingRequest, response: ServerResponse): void => {
    connections.get(request.socket)?.request(request, response);
  };
  const onUpgrade = (request: IncomingRequest, socket: Socket, head: Buffer): void => {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    connections.get(socket)?.request(request, response, head);
  };
  server.on("request", onRequest);
  server.on("checkContinue", onRequest);
  server.on("checkExpectation", onRequest);
  server.on("upgrade", onUpgrade);
  server.on("connect", onUpgrade);
  server.on("clientError", (error, socket) => connections.get(socket as Socket)?.failed(error));

  return {
    accept(socket, client: ClientConnection) {
      if (!(socket instanceof Socket)) throw new TypeError("the HTTP/1 front needs a socket");
      if (sweeper === undefined) {
        // Without connections nobody has looked at the clock, and deadlines are counted from when it was looked at.
        clock.refresh();
        sweeper = setInterval(sweep, clock.sweepIntervalMs);
      }
      connections.set(socket, new Http1Connection(socket, client, context));
      server.emit("connection", socket);
    },
    drain() {
      draining = true;
      for (const connection of connections.values()) connection.drain();
    },
    get connections() {
      return connections.size;
    },
    destroy() {
      let cut = 0;
      for (const connection of connections.values()) {
        cut += connection.openRequests;
        connection.destroy();
      }
      return cut;
    },
  };
}

function sweepIntervalOf(limits: FrontLimits): number {
  const { headerTimeoutMs, bodyTimeoutMs, idleTimeoutMs, writeTimeoutMs } = limits;
  const timeouts = [headerTimeoutMs, bodyTimeoutMs, idleTimeoutMs, writeTimeoutMs].filter(
    (timeoutMs) => timeoutMs > 0,
  );
  return Math.max(
    minSweepIntervalMs,
    Math.min(maxSweepIntervalMs, ...timeouts.map((timeoutMs) => timeoutMs / 4)),
  );
}

function parserBound({ maxUriBytes, maxHeaderBytes }: FrontLimits): number {
  if (maxUriBytes === 0 || maxHeaderBytes === 0) return defaultMaxHeadBytes;
  return headSlack * (maxUriBytes + maxHeaderBytes);
}
