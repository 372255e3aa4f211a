import type { Front } from "../../front.ts";
import { Socket } from "node:net";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import { ignore } from "../../../sockets/ignore.ts";
import { nodeSockets, type SocketLayer } from "../../../sockets/socket-layer.ts";
import type { Transport } from "../../../sockets/transport.ts";
import { createFrontConnections, type Http2FrontOptions } from "../front-connections.ts";
import { Http2ServerConnection } from "./connection.ts";

/**
 * Creates the HTTP/2 front (RFC 9113) on the proxy's own codec. Accepts plain connections whose first bytes are the
 * connection preface (prior knowledge), and TLS connections that negotiated `h2`. See docs/features/http2.md.
 */
export function createNativeHttp2Front(
  options: Http2FrontOptions,
  sockets: SocketLayer = nodeSockets,
): Front {
  const front = createFrontConnections<Http2ServerConnection>(options);
  const take = (transport: Transport, client: ClientConnection): Http2ServerConnection =>
    front.add((context) => new Http2ServerConnection(transport, client, context));
  return {
    accept(socket, client) {
      if (!(socket instanceof Socket)) throw new TypeError("the HTTP/2 front needs a socket");
      if (socket.destroyed) return;
      socket.on("error", ignore);
      take(sockets.take(socket), client);
    },
    take,
    drain: () => front.drain(),
    get connections() {
      return front.connections;
    },
    destroy: () => front.destroy(),
  };
}
