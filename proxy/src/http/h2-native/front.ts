import type { Duplex } from "node:stream";
import { ignore } from "../../sockets/ignore.ts";
import { awake } from "../../timing/awake-clock.ts";
import type { ClientConnection } from "../../exchange/client-connection.ts";
import type { Front } from "../front.ts";
import type { Http2FrontOptions } from "../h2/front.ts";
import { ResponseMemory } from "../response-memory.ts";
import { sweepInterval } from "../sweep-interval.ts";
import { type ConnectionContext, Http2ServerConnection } from "./connection.ts";

/**
 * The HTTP/2 side towards clients (RFC 9113) on a codec of its own. Takes plain sockets whose first bytes are the connection
 * preface (prior knowledge), read bytes put back, and TLS sockets that negotiated `h2`. See docs/features/http2.md.
 */
export function createNativeHttp2Front(options: Http2FrontOptions): Front {
  const { limits, handler, onEvent, responseMemory = new ResponseMemory() } = options;
  const connections = new Set<Http2ServerConnection>();
  const sweepIntervalMs = sweepInterval(limits);
  let sweeper: NodeJS.Timeout | undefined;
  let draining = false;

  const context: ConnectionContext = {
    limits,
    handler,
    responseMemory,
    get draining() {
      return draining;
    },
    onEvent(event) {
      onEvent?.(event);
    },
    onClosed(connection) {
      connections.delete(connection);
      if (connections.size > 0) return;
      clearInterval(sweeper);
      sweeper = undefined;
    },
  };

  const sweep = (): void => {
    awake.look();
    const { nowMs } = awake;
    for (const connection of connections) connection.sweep(nowMs);
    responseMemory.relieve();
  };

  return {
    accept(socket: Duplex, connection: ClientConnection) {
      if (socket.destroyed) return;
      socket.on("error", ignore);
      connections.add(new Http2ServerConnection(socket, connection, context));
      sweeper ??= setInterval(sweep, sweepIntervalMs).unref();
    },
    drain() {
      draining = true;
      for (const connection of connections) connection.drain();
    },
    get connections() {
      return connections.size;
    },
    destroy() {
      let cut = 0;
      for (const connection of connections) cut += connection.destroy();
      return cut;
    },
  };
}
