import type { Front } from "../../front.ts";
import { createFrontConnections, type Http2FrontOptions } from "../front-connections.ts";
import { Http2ServerConnection } from "./connection.ts";

/**
 * The HTTP/2 side towards clients (RFC 9113) on a codec of its own. Takes plain sockets whose first bytes are the connection
 * preface (prior knowledge), read bytes put back, and TLS sockets that negotiated `h2`. See docs/features/http2.md.
 */
export const createNativeHttp2Front = (options: Http2FrontOptions): Front =>
  createFrontConnections<Http2ServerConnection>(
    options,
    (socket, connection, context) => new Http2ServerConnection(socket, connection, context),
  );
