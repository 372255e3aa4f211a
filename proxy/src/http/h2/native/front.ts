import type { Front } from "../../front.ts";
import { Socket } from "node:net";
import { nodeSockets, type SocketLayer } from "../../../sockets/socket-layer.ts";
import { createFrontConnections, type Http2FrontOptions } from "../front-connections.ts";
import { Http2ServerConnection } from "./connection.ts";

/**
 * The HTTP/2 side towards clients (RFC 9113) on a codec of its own. Takes plain sockets whose first bytes are the connection
 * preface (prior knowledge), read bytes put back, and TLS sockets that negotiated `h2`. See docs/features/http2.md.
 */
export const createNativeHttp2Front = (
  options: Http2FrontOptions,
  sockets: SocketLayer = nodeSockets,
): Front =>
  createFrontConnections<Http2ServerConnection>(options, (socket, connection, context) => {
    if (!(socket instanceof Socket)) throw new TypeError("the HTTP/2 front needs a socket");
    return new Http2ServerConnection(sockets.take(socket), connection, context);
  });
