import { ConnectionPool } from "./pool.ts";
import type { UpstreamClientOptions } from "../connect/options.ts";
import type { UpstreamClient } from "../upstream.ts";
import type { ConnectionContext } from "./connection.ts";
import { Http1Stream } from "./stream.ts";

/** Sends requests over pooled HTTP/1.1 connections (docs/features/upstream.md). */
export function createHttp1UpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const context: ConnectionContext = {
    pool: new ConnectionPool(options.idlePool, options.resolver),
    options,
    open: new Set(),
    closed: false,
  };
  return {
    send(endpoint, request, handler) {
      const stream = new Http1Stream(endpoint, request, handler, context);
      stream.start();
      return stream;
    },
    retire(endpoints) {
      for (const endpoint of endpoints) context.pool.retire(endpoint);
    },
    close() {
      context.closed = true;
      for (const connection of context.open) connection.fail("proxy shutting down");
    },
  };
}
