import type { RefusalCode, RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type { HeldBody } from "../http/held-body.ts";
import type { UpstreamGaps } from "../http/upstream-gaps.ts";
import type { UpstreamNotes } from "../http/upstream-notes.ts";
import type { UpstreamTimeouts } from "../http/upstream-timer.ts";
import type { Fields } from "../message/fields.ts";
import type { ClientCloseReason, ClientStream, HeaderList, RequestHead } from "../message/message.ts";
import type { LocalReply } from "../message/local-reply.ts";
import { newRequestId } from "../message/request-id.ts";
import type { RequestMetrics } from "../telemetry/metrics.ts";
import type { RequestBalancing } from "../upstream/upstream.ts";
import { awake } from "../timing/awake-clock.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { CompiledRoute } from "./compiled-route.ts";
import type { ErrorPagePlan, Filter, RetryPlan, MirrorPlan } from "./filter.ts";
import type { PublicPort } from "./listener-view.ts";
import type { ExchangeTrace, RequestIdAnswer } from "./observer.ts";

/** The parts of the client's URL that differ from those of the connection; undefined for parts that do not. */
export type ForwardedUrl = {
  readonly scheme: "http" | "https" | undefined;
  /** In lower case, without port. */
  readonly host: string | undefined;
  readonly port: number | undefined;
};

/** Work that can be cancelled. It has methods instead of closures because one is set for every request. */
export type Cancellable = {
  /** Stops the work. `timedOut` means that the upstream took too long, not that the client has left. */
  cancel(timedOut?: boolean): void;
  /** Notifies the client that the proxy shuts down, if the protocol has a message for it; the work is cut later. */
  sayEnd?(): void;
};

/**
 * One request and its response: a plain mutable record, and the only thing that routing and filters see. The pipeline
 * extends it with the processing steps (http/pipeline.ts), so that the hot path allocates one object.
 */
export abstract class Exchange {
  readonly connection: ClientConnection;
  readonly client: ClientStream;
  readonly version: RequestHead["version"];
  readonly method: string;
  /** All request fields as the client sent them, including those that the proxy's forwarding fields replace. */
  readonly received: Fields;
  /** Milliseconds on the monotonic clock. */
  readonly startedAtMs: number;

  /** Host as the client sent it (with port), for forwarding. */
  authority = "";
  /** Host for the upstream if a filter changes it (docs/features/request-headers.md). */
  upstreamAuthority: string | undefined = undefined;
  /** Lower case, without port and trailing dot; empty for HTTP/1.0 without Host. */
  host = "";
  /** Normalised path as it is forwarded. Filters of the route, which run after matching, may rewrite it. */
  path = "/";
  /** Normalised path as it was matched, for the access log. */
  matchedPath = "/";
  /** Query with its `?`, or empty. Never normalised. */
  query = "";
  /** Path and query before any filter changed them, and their text as received if that is canonical. */
  private receivedPath = "";
  private receivedQuery = "";
  private receivedTarget: string | undefined = undefined;
  /** Request fields as the client sent them, hop-by-hop and forwarding fields removed. Filters may change them. */
  headers: Fields;
  /** Address that policies see: that of the peer, or the one in a trusted forwarding header. */
  clientIp: string;

  /** The public port for the kind of the route; before a route is found, that of Gateways, whose filters run then. */
  publicPort: PublicPort;

  /** The URL that the client used, as reported by a trusted proxy in front (docs/features/trust-forwarded-for.md). */
  forwardedUrl: ForwardedUrl | undefined = undefined;

  /** The filters of the listener, which run before the route is looked up. */
  listenerFilters: readonly Filter[] = noFilters;
  route: CompiledRoute | undefined = undefined;
  /** Counts this request. Set with the route, so that series of a route that is removed meanwhile are not recreated. */
  routeMetrics: RequestMetrics | undefined = undefined;
  /** The filters of the backend, once one has been chosen. */
  backendFilters: readonly Filter[] = noFilters;

  /** The largest body in bytes; a larger request is answered 413 (docs/features/max-body-size.md). */
  maxBodyBytes = Number.POSITIVE_INFINITY;

  /** The buffered body, if a filter had to read all of it; sent upstream from there (docs/features/ext-auth.md). */
  held: HeldBody | undefined = undefined;

  /** Fields that checks add to any response, of the upstream or of the proxy itself: see response-filters.ts. */
  clientFields: HeaderList | undefined = undefined;

  /** The session affinity that the route sets; undefined if it sets none. */
  affinity: SessionAffinity | undefined = undefined;
  /** How the endpoint is selected, if the route or a policy sets it, and the text that is hashed for that. */
  balancing: RequestBalancing | undefined = undefined;
  hashKey = "";
  /** True if the chosen backend requires a dedicated connection for each request. */
  closesUpstream = false;
  /** Rewrites response fields of the upstream, before the proxy adds any. */
  rewriteUpstreamFields: ((headers: Fields) => void) | undefined = undefined;

  /** Limits on the upstream's side (docs/features/timeouts.md). */
  upstreamTimeouts: UpstreamTimeouts | undefined = undefined;
  /** Measures the gaps of the current attempt; undefined unless the route limits them. */
  gaps: UpstreamGaps | undefined = undefined;

  /** The conditions under which the request is sent again (docs/features/retry.md). */
  retry: RetryPlan | undefined = undefined;

  /** The errors that a Service answers; cleared once it is asked to answer one (docs/features/error-pages.md). */
  errorPages: ErrorPagePlan | undefined = undefined;

  /** The upstreams that get a copy of the request (docs/features/mirror-target.md). */
  mirrors: readonly MirrorPlan[] = noMirrors;

  /** The client waits for a 100 before it sends its body (RFC 9110 10.1.1). */
  expectContinue = false;
  /** `websocket` when the client asks to upgrade this connection. */
  upgrade: string | undefined = undefined;
  /** True for gRPC requests, whose errors travel in `grpc-status`. */
  grpc = false;

  /** True once a filter has waited: the first attempt then takes a start time of its own instead of `startedAtMs`. */
  hasWaited = false;

  /** True once the response has ended, successfully or not; the exchange must not be changed afterwards. */
  finished = false;
  /** The work under way for this exchange (upstream request, tunnel); set by the part that does it. */
  work: Cancellable | undefined = undefined;
  /** When the request began, and when the last byte passed in either direction, in milliseconds of the awake clock. */
  readonly awakeAtMs: number;
  lastActivityMs: number;
  private ownId: string | undefined = undefined;
  /** Limits the whole request; undefined unless the route sets such a limit. */
  private timer: AwakeTimer | undefined = undefined;
  private atEnd: (() => void)[] | undefined = undefined;
  /** The index in `ActiveExchanges`, which alone sets it. */
  activeIndex = -1;

  /** For log and metrics. */
  status = 0;
  attempts = 0;
  /** Bytes sent to the client after its connection was upgraded. */
  tunnelBytesSent = 0;
  /** Bytes received from the client: those read of the body, or those sent over an upgraded connection. */
  bytesReceived = 0;
  /** Notes about the attempts; undefined unless the log or the trace shows them. */
  notes: UpstreamNotes | undefined = undefined;
  /** The trace of the request; undefined if it is not traced. */
  trace: ExchangeTrace | undefined = undefined;
  /** Returns the request id to the client; undefined unless request ids are enabled. */
  requestIds: RequestIdAnswer | undefined = undefined;
  upstreamService = "";
  upstreamAddress = "";
  /** Whether the latest connection of an attempt was new or reused; undefined if no attempt got one. */
  upstreamConnection: "new" | "reused" | undefined = undefined;
  error = "";
  /** The code of `error`, if the text alone does not determine it. */
  reason: RefusalCode | undefined = undefined;
  /** The cause of `error`, for the access log; undefined if nothing more is known. */
  detail: string | undefined = undefined;

  constructor(connection: ClientConnection, head: RequestHead, client: ClientStream, startedAtMs: number) {
    this.connection = connection;
    this.client = client;
    this.version = head.version;
    this.method = head.method;
    this.received = head.headers;
    this.headers = head.headers;
    this.clientIp = connection.remoteAddress;
    this.publicPort = connection.listener.publicPorts.gateway;
    this.startedAtMs = startedAtMs;
    this.awakeAtMs = awake.at(startedAtMs);
    this.lastActivityMs = this.awakeAtMs;
  }

  /** Sets path and query for matching; `target` is their text as received, absent if that is not canonical. */
  setPath(path: string, query: string, target?: string): void {
    this.path = path;
    this.matchedPath = path;
    this.query = query;
    this.receivedPath = path;
    this.receivedQuery = query;
    this.receivedTarget = target;
  }

  /** Path and query as sent to the backend. Unchanged ones are not concatenated again. */
  get target(): string {
    const { path, query, receivedTarget } = this;
    const isReceived = path === this.receivedPath && query === this.receivedQuery;
    return isReceived && receivedTarget !== undefined ? receivedTarget : path + query;
  }

  /** Ends the request if its response has not ended this many milliseconds after the request began. */
  limitTo(requestTimeoutMs: number): void {
    const leftMs = requestTimeoutMs - (awake.nowMs - this.awakeAtMs);
    this.timer = new AwakeTimer(() => this.expire("request timeout"), Math.max(0, leftMs));
  }

  /**
   * Answers 504, or cuts a response that has begun. Called when a time limit is exceeded; like `giveUp`, it has no
   * effect once the response has ended.
   */
  abstract expire(error: RefusalError): void;

  /** Ends the request with this answer, or cuts the response that has begun. */
  abstract giveUp(reply: LocalReply): void;

  /** Called once, when `finished` becomes true. */
  protected abstract onFinish(): void;

  /** Registers a callback that is called once, when the response has ended, successfully or not. */
  whenFinished(callback: () => void): void {
    if (this.atEnd === undefined) this.atEnd = [callback];
    else this.atEnd.push(callback);
  }

  /** Ends the exchange, because the response is complete or will never be. */
  finish(): void {
    if (this.finished) return;
    this.finished = true;
    if (this.atEnd !== undefined) for (const callback of this.atEnd) callback();
    this.timer?.clear();
    this.client.onClose = null;
    this.client.onDrain = null;
    this.client.onHeadSent = null;
    this.work = undefined;
    this.onFinish();
  }

  /**
   * Ends the exchange because the client's side ended first; without a head logged as 499, or 502 for a broken
   * response.
   */
  clientClosed(reason: ClientCloseReason): void {
    if (this.finished) return;
    if (!this.client.headSent) this.status = reason === "broken-response" ? 502 : 499;
    if (this.error === "") this.error = closeTexts[reason];
    this.work?.cancel();
    this.finish();
  }

  /** The id of the request: the one that was set, or else 32 hexadecimal digits, generated on first use. */
  get requestId(): string {
    return (this.ownId ??= newRequestId());
  }

  /** The id of the request if it has been set or generated; otherwise empty. */
  get knownRequestId(): string {
    return this.ownId ?? "";
  }

  /** Sets the id of the request, such as one that a trusted peer sent. */
  set requestId(id: string) {
    this.ownId = id;
  }

  get routeId(): string {
    return this.route?.id ?? "";
  }

  /** Names of request fields that belong to a filter of the listener, of the route, or of the chosen backend. */
  get ownedFields(): readonly string[] {
    const ofRoute = this.route?.filters ?? noFilters;
    return [...this.listenerFilters, ...ofRoute, ...this.backendFilters].flatMap(
      ({ ownedFields }) => ownedFields ?? [],
    );
  }

  /** Names of response fields that belong to a filter of the route or of the chosen backend. */
  get ownedResponseFields(): readonly string[] {
    if (this.route?.filters.length === 0 && this.backendFilters.length === 0) return noNames;
    return [...(this.route?.filters ?? noFilters), ...this.backendFilters].flatMap(
      ({ ownedResponseFields }) => ownedResponseFields ?? [],
    );
  }

  /** Whether the connection has TLS. */
  get secure(): boolean {
    return this.connection.listener.secure;
  }

  /** The scheme that the client used: the one reported by a trusted proxy in front, or else that of the connection. */
  get scheme(): "http" | "https" {
    return this.forwardedUrl?.scheme ?? (this.secure ? "https" : "http");
  }

  /** Declared body length in bytes; undefined when there is no body or none was declared. */
  get contentLength(): number | undefined {
    return this.client.body?.length;
  }
}

const noFilters: readonly Filter[] = [];
const noNames: readonly string[] = [];
const noMirrors: readonly MirrorPlan[] = [];

const closeTexts: { readonly [R in ClientCloseReason]: RefusalError } = {
  "client-closed": "client closed",
  timeout: "client write timeout",
  shutdown: "shutdown",
  "broken-response": "response does not match its head",
  "response-memory": "response memory full",
};
