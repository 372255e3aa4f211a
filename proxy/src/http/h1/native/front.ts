import { Socket } from "node:net";
import type { ClientConnection } from "../../../exchange/client-connection.ts";
import type { Front, FrontLimits } from "../../front.ts";
import { FrontConnections, type Http1FrontOptions } from "../front-connections.ts";
import { Http1Connection } from "./connection.ts";
import { type CodecContext, HeadParsers } from "./context.ts";
import type { HeadLimits } from "./request-head-parser.ts";
import { nodeSockets, type SocketLayer } from "../../../sockets/socket-layer.ts";
import type { Transport } from "../../../sockets/transport.ts";

/** The bound of a part of a head if its limit is off. */
const defaultMaxBytes = 1_048_576;

/** Creates the HTTP/1.0 and HTTP/1.1 front on the proxy's own codec (docs/features/http1.md, "Codecs"). */
export function createNativeHttp1Front(
  options: Http1FrontOptions,
  sockets: SocketLayer = nodeSockets,
): Front {
  const front = new FrontConnections(options);
  const context = codecContext(front);
  const take = (transport: Transport, client: ClientConnection, spentMs?: number): Http1Connection => {
    front.wake();
    const connection = new Http1Connection(transport, client, context, spentMs);
    front.add(connection);
    transport.start(connection);
    return connection;
  };
  return {
    accept(socket, client, spentMs) {
      if (!(socket instanceof Socket)) throw new TypeError("the HTTP/1 front needs a socket");
      // A destroyed socket has already emitted `close`, so its connection would never be removed.
      if (!socket.destroyed) take(sockets.take(socket), client, spentMs);
    },
    take,
    drain: () => front.drain(),
    get connections() {
      return front.connections;
    },
    destroy: () => front.destroy(),
  };
}

/** Derives the context of the codec from the limits of a front. */
export function codecContext(front: CodecContext["front"]): CodecContext {
  const limits = headLimitsOf(front.limits);
  const { maxFieldBytes, maxFields } = limits;
  return {
    front,
    parsers: new HeadParsers(limits),
    chunkedRules: { maxTrailerBytes: maxFieldBytes, maxTrailerFields: maxFields, isStrict: true },
  };
}

const headLimitsOf = ({ maxUriBytes, maxHeaderBytes, maxHeaders }: FrontLimits): HeadLimits => ({
  maxTargetBytes: maxUriBytes === 0 ? defaultMaxBytes : maxUriBytes,
  maxFieldBytes: maxHeaderBytes === 0 ? defaultMaxBytes : maxHeaderBytes,
  maxFields: maxHeaders === 0 ? Number.POSITIVE_INFINITY : maxHeaders,
});
