import type { Fields } from "../message/fields.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { Chunk, HeaderList, RequestBody, ResponseHead } from "../message/message.ts";
import type { TemplateRequest } from "../routing/request-template.ts";
import type { TunnelEnd } from "../sockets/transport.ts";
import type { UpstreamError } from "./upstream-errors.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { UpstreamTls } from "./tls/upstream-tls.ts";

/**
 * One address that requests can be sent to. Identity is kept across snapshots while address, port and TLS stay; pooled
 * connections belong to it, so that none is used under rules that it was not opened under.
 */
export type UpstreamEndpoint = {
  readonly host: string;
  readonly port: number;
  /** `ip:port`, `[ip6]:port`: for logs and hashing. */
  readonly address: string;
  /** The limits that its Service sets for connections; one object for all endpoints of a set, updated in place. */
  readonly limits?: ConnectionLimits;
  /** Absent: connections are not encrypted. */
  readonly tls?: UpstreamTls | undefined;
};

export type ConnectionLimits = {
  /** Limit of a connect in milliseconds; undefined: that of the client. */
  connectTimeoutMs: number | undefined;
  /** Longest time that a pooled connection may be idle, in milliseconds; undefined: any. */
  idleTimeoutMs: number | undefined;
  /** Whether addresses that never leave the node are refused. */
  refusesNodeLocal?: boolean;
};

/** What a balancer may look at when it picks; an Exchange is one. */
export type PickRequest = {
  readonly clientIp: string;
  readonly path: string;
  /** With its `?`, or empty. */
  readonly query: string;
  /** As they go to the backend. */
  readonly headers: Fields;
  /** As the client sent them. */
  readonly received: Fields;
  /** Empty without a route. */
  readonly routeId: string;
  /** The client came over TLS. */
  readonly secure: boolean;
  /** The session affinity of the route; undefined: the policy of the Service decides. */
  readonly affinity?: SessionAffinity | undefined;
  /** How the route, or the text of a policy, chooses among endpoints; undefined: as the algorithm of the Service says. */
  readonly balancing?: RequestBalancing | undefined;
  /** The text that `balancing` hashes. */
  readonly hashKey?: string;
};

/** A balancing with what puts its key together, once per request; undefined: it hashes nothing. */
export type CompiledBalancing = {
  readonly balancing: RequestBalancing;
  readonly keyOf: ((request: TemplateRequest) => string) | undefined;
};

/** The balancing of a request, whose key is put together before: `hashKey` of the request. */
export type RequestBalancing =
  | { readonly algorithm: "round_robin" | "least_conn" | "ewma" }
  | { readonly algorithm: "hash"; readonly subset?: number | undefined };

/**
 * A Service port as the data plane sees it: its endpoints and how to speak to them. Replaced when the endpoint set
 * changes; run-time state (pools, counters) carries over by `key`.
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
  /** How the policy of the Service hashes a text of several parts; for requests whose text is empty it says nothing. */
  readonly balancing?: CompiledBalancing | undefined;
  /** The upstream of requests that came without TLS; absent: the same one. */
  readonly cleartext?: (() => Upstream) | undefined;
  /**
   * The endpoint of the next attempt of a request; undefined when there is none (503). A retry names the endpoints that
   * were `tried`: another one is picked while there is any, else one of them again.
   */
  pick(request: PickRequest, tried?: ReadonlySet<UpstreamEndpoint>): Selection | undefined;
  /** Whether one of its endpoints has the session of the request; absent: none ever has. */
  readonly hasSession?: (request: PickRequest) => boolean;
};

/**
 * The choice for one attempt of a request. The attempt must be sent by `sendSelected`, or its end is never reported.
 */
export type Selection = {
  readonly endpoint: UpstreamEndpoint;
  /** Records how the attempt goes; undefined where that is not needed. */
  readonly watch: AttemptWatch | undefined;
  /** Value of the Set-Cookie field that goes to the client if this endpoint answers. */
  readonly setCookie: string | undefined;
};

/** Receives the events of an attempt. */
export type AttemptWatch = {
  /** The head of the response has arrived. */
  responded(status: number): void;
  /** The endpoint has failed: no connection, no answer in time, a broken answer. */
  failed(): void;
  /** The attempt is over, however it went. Called once, last. */
  ended(): void;
};

/** How long a body waits for the 100 that its client asked for (RFC 9110 10.1.1), in milliseconds. */
export const continueTimeoutMs = 1000;

/** A request as it goes to an endpoint. Headers are final: Host first, no hop-by-hop fields, no framing fields. */
export type UpstreamRequest = {
  /** The protocol of the connection, with or without TLS: HTTP/1.1, or HTTP/2 (with prior knowledge without TLS). */
  readonly protocol: Upstream["protocol"];
  readonly method: string;
  /** Path and query in origin form. */
  readonly target: string;
  /** Value of Host (HTTP/1) or `:authority` (HTTP/2); not contained in `headers`. */
  readonly authority: string;
  /** `http` or `https` as the client used it, for `:scheme`. */
  readonly scheme: "http" | "https";
  readonly headers: Fields;
  /** Null when the request has no body. The client starts it once a connection is ready. */
  readonly body: RequestBody | null;
  /** Set for an upgrade request (`websocket`): the client adds `Connection: upgrade` and `Upgrade`. */
  readonly upgrade: string | undefined;
  /** The client asked for 100-continue: the body starts when a 100 or final head arrives, or after `continueTimeoutMs`. */
  readonly expectContinue: boolean;
  /** The connection is used for this request only, and its peer is asked to close it (HTTP/1.1). */
  readonly closes?: boolean;
  /** Limit of a connect for this request in milliseconds; absent: that of the endpoint. */
  readonly connectTimeoutMs?: number | undefined;
};
/** Receives one response. Exactly one of `onEnd`, `onError`, `onUpgrade` ends it; nothing follows. */
export type UpstreamHandler = {
  /** The request is on a connection: `reused` says that it was pooled. Once per attempt on the wire. */
  onConnection(reused: boolean): void;
  /** The server has not processed the request (RFC 9113 8.7), which is sent once more on a new connection. */
  onRefused?(): void;
  /** A 1xx head other than 101. */
  onInformational(status: number, headers: HeaderList): void;
  /** The final head; hop-by-hop fields are removed (RFC 9110 7.6.1). */
  onHead(head: ResponseHead): void;
  /** False pauses the response until `resume()`; the end may still follow. */
  onData(chunk: Chunk): boolean;
  /**
   * Bytes of the pieces so far that the receiver still holds. At 0 the client may write over the memory of those
   * pieces, which makes large bodies a third faster; undefined: unknown, every piece is the receiver's to keep.
   */
  readonly pendingBytes?: number | undefined;
  /**
   * True: it keeps nothing of a piece once `onData` has returned, so that memory of any kind may be passed to it; `lent`: nothing of
   * views of memory that connections share (`isLent`).
   */
  readonly copies?: boolean | "lent";
  /** Most bytes that it takes at once, while `onData` answers true; undefined: it does not say. */
  readonly roomBytes?: number | undefined;
  onEnd(trailers: HeaderList | undefined): void;
  /**
   * 101: the connection now belongs to the receiver. `headers` hold neither Connection nor Upgrade.
   */
  onUpgrade(headers: Fields, end: TunnelEnd): void;
  onError(error: UpstreamError): void;
};

/** Control over a request under way. */
export type UpstreamStream = {
  resume(): void;
  /** Ends the request at once; the handler gets no more events. The connection is not reused. */
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
