import { ignore } from "../../../sockets/ignore.ts";
import type { Front } from "../../front.ts";
import type { Http2ClientStream } from "./client-stream.ts";
import { createFrontConnections, type Http2FrontOptions } from "../front-connections.ts";
import { Http2ServerConnection } from "./session.ts";

/**
 * Creates the HTTP/2 front (RFC 9113) on Node's `http2` sessions. Accepts plain sockets whose first bytes are the
 * connection preface (prior knowledge), with bytes that were already read pushed back, and TLS sockets that negotiated
 * `h2`. See docs/features/http2.md.
 */
export function createHttp2Front(options: Http2FrontOptions): Front {
  let lateHeads: Http2ClientStream[] = [];

  const flushHeads = (): void => {
    const streams = lateHeads;
    lateHeads = [];
    for (const stream of streams) stream.flushHead();
  };

  const deferHead = (stream: Http2ClientStream): void => {
    if (lateHeads.push(stream) === 1) queueMicrotask(flushHeads);
  };

  const front = createFrontConnections<Http2ServerConnection>(options);
  return {
    accept(socket, connection) {
      if (socket.destroyed) return;
      socket.on("error", ignore);
      front.add((context) => new Http2ServerConnection(socket, connection, context, deferHead));
    },
    drain: () => front.drain(),
    get connections() {
      return front.connections;
    },
    destroy: () => front.destroy(),
  };
}
