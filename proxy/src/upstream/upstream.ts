import type { Fields } from "../message/fields.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { Chunk, HeaderList, RequestBody, ResponseHead } from "../message/message.ts";
import type { TemplateRequest } from "../routing/request-template.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import type { UpstreamError } from "./upstream-errors.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { UpstreamTls } from "./tls/upstream-tls.ts";

/**
 * One address that requests can be sent to. It remains the same object across snapshots while its address, port and TLS
 * settings do not change. Pooled connections belong to it, so none is reused under different settings.
 */
export type UpstreamEndpoint = {
  readonly host: string;
  readonly port: number;
  /** `ip:port` or `[ip6]:port`, for logs and hashing. */
  readonly address: string;
  /** The limits that its Service sets for connections; one object for all endpoints of a set, updated in place. */
  readonly limits?: ConnectionLimits;
  /** The TLS settings of connections; absent for cleartext. */
  readonly tls?: UpstreamTls | undefined;
};

export type ConnectionLimits = {
  /** Limit of a connect in milliseconds; undefined for the limit of the upstream client. */
  connectTimeoutMs: number | undefined;
  /** Longest time that a pooled connection may be idle, in milliseconds; undefined for no limit. */
  idleTimeoutMs: number | undefined;
  /** Whether addresses that never leave the node are refused. */
  refusesNodeLocal?: boolean;
};

/** The properties of a request by which a balancer picks an endpoint; implemented by Exchange. */
export type PickRequest = {
  readonly clientIp: string;
  /** The host that the client asked for, in lower case, without port. */
  readonly host: string;
  readonly path: string;
  /** The query with its `?`, or empty. */
  readonly query: string;
  /** The header fields as sent to the backend. */
  readonly headers: Fields;
  /** The header fields as received from the client. */
  readonly received: Fields;
  /** The ID of the route; empty if there is none. */
  readonly routeId: string;
  /** Whether the client used TLS. */
  readonly secure: boolean;
  /** The session affinity of the route; if undefined, the policy of the Service decides. */
  readonly affinity?: SessionAffinity | undefined;
  /**
   * The balancing of the route, or of a policy that hashes a template; if undefined, the Service's algorithm decides.
   */
  readonly balancing?: RequestBalancing | undefined;
  /** The text that `balancing` hashes. */
  readonly hashKey?: string;
};

/** A balancing with the function that renders its hash key, called once per request; undefined if it does not hash. */
export type CompiledBalancing = {
  readonly balancing: RequestBalancing;
  readonly keyOf: ((request: TemplateRequest) => string) | undefined;
};

/** The balancing of a request. Its key is rendered in advance, as `hashKey` of the request. */
export type RequestBalancing =
  | { readonly algorithm: "round_robin" | "least_conn" | "ewma" }
  | { readonly algorithm: "hash"; readonly subset?: number | undefined };

/**
 * A Service port as the data plane sees it: its endpoints and how to speak to them. Replaced when the endpoint set
 * changes; pools and counters carry over, because they belong to the endpoints.
 */
export type Upstream = {
  /** `namespace/service/port`. */
  readonly key: string;
  /** `namespace/service`, for logs and metrics. */
  readonly service: string;
  readonly protocol: "http1" | "http2";
  readonly endpoints: readonly UpstreamEndpoint[];
  /** Limits the retries to the Service port; shared by all routes to it. */
  readonly retryBudget: RetryBudget;
  /**
   * The template that the policy of the Service hashes; it does not apply to requests for which the template is empty.
   */
  readonly balancing?: CompiledBalancing | undefined;
  /** Returns the upstream of requests received without TLS; absent if it is the same one. */
  readonly cleartext?: (() => Upstream) | undefined;
  /**
   * Returns the endpoint of the next attempt of a request; undefined if there is none (503). A retry passes the
   * endpoints that were `tried`, which are picked again only if no other is available.
   */
  pick(request: PickRequest, tried?: ReadonlySet<UpstreamEndpoint>): Selection | undefined;
  /** Reports whether one of its endpoints has the session of the request; absent if none ever has. */
  readonly hasSession?: (request: PickRequest) => boolean;
};

/** The endpoint chosen for one attempt. The attempt must be sent by `sendSelected`, or its end is never reported. */
export type Selection = {
  readonly endpoint: UpstreamEndpoint;
  /** Records the outcome of the attempt; undefined if that is not needed. */
  readonly watch: AttemptWatch | undefined;
  /** Value of the Set-Cookie field that is added to the response of this endpoint. */
  readonly setCookie: string | undefined;
};

/** Receives the events of an attempt. */
export type AttemptWatch = {
  /** The head of the response has arrived. */
  responded(status: number): void;
  /** The endpoint has failed: no connection, no timely response, or a broken response. */
  failed(): void;
  /** The attempt is over, with any outcome. Called once, last. */
  ended(): void;
};

/** How long a body is held back for the 100 that its client expects (RFC 9110 10.1.1), in milliseconds. */
export const continueTimeoutMs = 1000;

/** A request as sent to an endpoint. Its headers are final, without hop-by-hop and framing fields. */
export type UpstreamRequest = {
  /** The protocol of the connection, with or without TLS: HTTP/1.1, or HTTP/2 (with prior knowledge without TLS). */
  readonly protocol: Upstream["protocol"];
  readonly method: string;
  /** Path and query in origin form. */
  readonly target: string;
  /** Value of Host (HTTP/1) or `:authority` (HTTP/2); not contained in `headers`. */
  readonly authority: string;
  /** The scheme that the client used, for `:scheme`. */
  readonly scheme: "http" | "https";
  readonly headers: Fields;
  /** Null when the request has no body. The client starts it once a connection is ready. */
  readonly body: RequestBody | null;
  /** Set for an upgrade request (`websocket`): the client adds `Connection: upgrade` and `Upgrade`. */
  readonly upgrade: string | undefined;
  /**
   * Whether the client expects 100-continue. The body then waits for a 100 or final head, at most `continueTimeoutMs`.
   */
  readonly expectContinue: boolean;
  /** Whether the connection is used for this request only, and `Connection: close` is sent (HTTP/1.1). */
  readonly closes?: boolean;
  /** Limit of a connect for this request in milliseconds; if absent, that of the endpoint applies. */
  readonly connectTimeoutMs?: number | undefined;
};
/** Receives one response. Exactly one of `onEnd`, `onError`, `onUpgrade` ends it; no other call follows. */
export type UpstreamHandler = {
  /**
   * The request has been assigned a connection; `reused` is true for a pooled one. Called once per attempt on the wire.
   */
  onConnection(reused: boolean): void;
  /** The server did not process the request (RFC 9113 8.7), and it is sent again on a new connection. */
  onRefused?(): void;
  /** A 1xx head other than 101. */
  onInformational(status: number, headers: HeaderList): void;
  /** The final head, without hop-by-hop fields (RFC 9110 7.6.1). */
  onHead(head: ResponseHead): void;
  /** A piece of the body. Returning false pauses the response until `resume()`; the end can still follow. */
  onData(chunk: Chunk): boolean;
  /**
   * The number of bytes of earlier pieces that the receiver still holds. At 0 the client may overwrite the memory of
   * those pieces, which makes large bodies a third faster. If undefined, the number is unknown and the receiver keeps
   * every piece.
   */
  readonly pendingBytes?: number | undefined;
  /**
   * Whether the receiver has copied what it needs of a piece when `onData` returns, so that memory of any kind can be
   * passed to it. `lent` limits this to views of memory that connections share (`isLent`).
   */
  readonly copies?: boolean | "lent";
  /** The most bytes that the receiver accepts at a time while `onData` returns true; undefined if it sets no limit. */
  readonly roomBytes?: number | undefined;
  onEnd(trailers: HeaderList | undefined): void;
  /** The response was 101: the connection now belongs to the receiver. `headers` omit Connection and Upgrade. */
  onUpgrade(headers: Fields, end: TunnelEnd): void;
  onError(error: UpstreamError): void;
};

/** Control over a request under way. */
export type UpstreamStream = {
  resume(): void;
  /** Ends the request immediately; the handler receives no more events. An HTTP/1.1 connection is not reused. */
  abort(): void;
};

/** Sends requests to endpoints, over pooled HTTP/1.1 connections or multiplexed HTTP/2 ones. */
export type UpstreamClient = {
  /** Never calls `onEnd`, `onError` or `onUpgrade` before `send` has returned. */
  send(endpoint: UpstreamEndpoint, request: UpstreamRequest, handler: UpstreamHandler): UpstreamStream;
  /** Closes idle connections to removed endpoints; those in use close after their response. */
  retire(endpoints: readonly UpstreamEndpoint[]): void;
  /** Closes all connections and fails requests in flight. */
  close(): void;
};
