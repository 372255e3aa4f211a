import { createServer, ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import type { Front, FrontLimits } from "../../front.ts";
import { Http1Connection } from "./connection.ts";
import { FrontConnections, type Http1FrontOptions } from "../front-connections.ts";
import { IncomingRequest } from "./incoming-request.ts";
import { asksForWebSocket } from "./upgrade-request.ts";

/** The factor by which the parser accepts heads beyond the limits, so that the answer can name the exceeded one. */
const headSlack = 2;
/** The fields beyond which the parser fails without a reason; fewer, but more than the limit, are refused with it. */
const maxFieldsSeen = 1000;
/** The bound of the parser if the limits are off. */
const defaultMaxHeadBytes = 1_048_576;

/**
 * Creates the HTTP/1.0 and HTTP/1.1 front on Node's server. The server never listens; its sockets are passed to
 * `accept`.
 */
export function createHttp1Front(options: Http1FrontOptions): Front {
  const { limits } = options;
  const front = new FrontConnections(options);
  const connections = new WeakMap<Socket, Http1Connection>();

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
  // Undocumented, but older than the documentation: lets a client that ended its side still get its answer.
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
    accept(socket, client: ClientConnection, spentMs) {
      if (!(socket instanceof Socket)) throw new TypeError("the HTTP/1 front needs a socket");
      front.wake();
      const connection = new Http1Connection(socket, client, front, spentMs);
      connections.set(socket, connection);
      front.add(connection);
      server.emit("connection", socket);
    },
    drain: () => front.drain(),
    get connections() {
      return front.connections;
    },
    destroy: () => front.destroy(),
  };
}

function parserBound({ maxUriBytes, maxHeaderBytes }: FrontLimits): number {
  if (maxUriBytes === 0 || maxHeaderBytes === 0) return defaultMaxHeadBytes;
  return headSlack * (maxUriBytes + maxHeaderBytes);
}
