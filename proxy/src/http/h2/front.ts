import type { Duplex } from "node:stream";
import type { ClientConnection } from "../../exchange/client-connection.ts";
import { ignore } from "../../sockets/ignore.ts";
import { awake } from "../../timing/awake-clock.ts";
import type { Front, FrontLimits, RequestHandler } from "../front.ts";
import { ResponseMemory } from "../response-memory.ts";
import { sweepInterval } from "../sweep-interval.ts";
import type { Http2ClientStream } from "./client-stream.ts";
import type { Http2FrontEventHandler } from "./events.ts";
import { Http2ServerConnection, type SessionContext } from "./session.ts";

export type Http2FrontOptions = {
  readonly limits: FrontLimits;
  readonly handler: RequestHandler;
  readonly onEvent?: Http2FrontEventHandler;
  /** Counts the response bytes that wait for clients; without a bound unless given. */
  readonly responseMemory?: ResponseMemory;
};

/**
 * The HTTP/2 side towards clients (RFC 9113), over Node's `http2` sessions. Takes plain sockets whose first bytes are
 * the connection preface (prior knowledge), read bytes put back, and TLS sockets that negotiated `h2`. See
 * docs/features/http2.md.
 */
export function createHttp2Front(options: Http2FrontOptions): Front {
  const { limits, handler, onEvent, responseMemory = new ResponseMemory() } = options;
  const sessions = new Set<Http2ServerConnection>();
  const sweepIntervalMs = sweepInterval(limits);
  let sweeper: NodeJS.Timeout | undefined;
  let draining = false;
  let lateHeads: Http2ClientStream[] = [];

  const flushHeads = (): void => {
    const streams = lateHeads;
    lateHeads = [];
    for (const stream of streams) stream.flushHead();
  };

  const context: SessionContext = {
    limits,
    handler,
    responseMemory,
    get draining() {
      return draining;
    },
    deferHead(stream) {
      if (lateHeads.push(stream) === 1) queueMicrotask(flushHeads);
    },
    onEvent(event) {
      onEvent?.(event);
    },
    onClosed(session) {
      sessions.delete(session);
      if (sessions.size > 0) return;
      clearInterval(sweeper);
      sweeper = undefined;
    },
  };

  const sweep = (): void => {
    awake.look();
    const { nowMs } = awake;
    for (const session of sessions) session.sweep(nowMs);
    responseMemory.relieve();
  };

  return {
    accept(socket: Duplex, connection: ClientConnection) {
      if (socket.destroyed) return;
      socket.on("error", ignore);
      sessions.add(new Http2ServerConnection(socket, connection, context));
      sweeper ??= setInterval(sweep, sweepIntervalMs).unref();
    },
    drain() {
      draining = true;
      for (const session of sessions) session.drain();
    },
    get connections() {
      return sessions.size;
    },
    destroy() {
      let cut = 0;
      for (const session of sessions) cut += session.destroy();
      return cut;
    },
  };
}
