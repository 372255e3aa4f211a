import type { CompiledRoute } from "../routing/compiled-route.ts";
import type { ClientConnection } from "./connection.ts";
import type { ClientStream, HeaderList, RequestHead } from "./message.ts";

/**
 * One request and its response: the only thing that routing and filters see. Created by the pipeline for every
 * request that a front parsed; a plain mutable record so that the hot path allocates once.
 */
export class Exchange {
  readonly connection: ClientConnection;
  readonly client: ClientStream;
  readonly version: RequestHead["version"];
  readonly method: string;
  /** Milliseconds on the monotonic clock. */
  readonly startedAtMs: number;

  /** Host as the client sent it (with port), for forwarding. */
  authority = "";
  /** Lower case, without port and trailing dot; empty for HTTP/1.0 without Host. */
  host = "";
  /** Normalised path: used for matching and forwarded. Filters may rewrite it. */
  path = "/";
  /** Query with its `?`, or empty. Never normalised. */
  query = "";
  /** Request fields as the client sent them, hop-by-hop and forwarding fields removed. Filters may change them. */
  headers: HeaderList;
  /** Address that policies see: the peer, or what a trusted forwarding header says. */
  clientIp: string;

  route: CompiledRoute | undefined = undefined;

  /** Most body bytes that may pass; a larger request is answered 413 (docs/features/max-body-size.md). */
  maxBodyBytes = Number.POSITIVE_INFINITY;

  /** For log and metrics. */
  status = 0;
  attempts = 0;
  upstreamService = "";
  upstreamAddress = "";
  error = "";

  constructor(connection: ClientConnection, head: RequestHead, client: ClientStream, startedAtMs: number) {
    this.connection = connection;
    this.client = client;
    this.version = head.version;
    this.method = head.method;
    this.headers = head.headers;
    this.clientIp = connection.remoteAddress;
    this.startedAtMs = startedAtMs;
  }

  /** Declared body length in bytes; undefined when there is no body or none was declared. */
  get contentLength(): number | undefined {
    return this.client.body?.length;
  }
}
