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

/** The parts of the client's URL that differ from those of the connection; absent: they do not. */
export type ForwardedUrl = {
  readonly scheme: "http" | "https" | undefined;
  /** In lower case, without port. */
  readonly host: string | undefined;
  readonly port: number | undefined;
};

/** Methods instead of closures: these are set for every request. */
export type Cancellable = {
  /** `timedOut`: because the upstream took too long, not because the client has left. */
  cancel(timedOut?: boolean): void;
  /** Says to the client that the proxy ends, if the protocol has words for that; what was begun is cut later. */
  sayEnd?(): void;
};

/**
 * One request and its response: the only thing that routing and filters see, a plain mutable record. What the pipeline does with
 * it is in the same object (http/pipeline.ts), so that the hot path allocates once.
 */
export abstract class Exchange {
  readonly connection: ClientConnection;
  readonly client: ClientStream;
  readonly version: RequestHead["version"];
  readonly method: string;
  /** All request fields as the client sent them, for what must look behind the proxy's own forwarding fields. */
  readonly received: Fields;
  /** Milliseconds on the monotonic clock. */
  readonly startedAtMs: number;

  /** Host as the client sent it (with port), for forwarding. */
  authority = "";
  /** Host for the upstream where a filter changes it (docs/features/request-headers.md). */
  upstreamAuthority: string | undefined = undefined;
  /** Lower case, without port and trailing dot; empty for HTTP/1.0 without Host. */
  host = "";
  /** Normalised path as it is forwarded. Filters may rewrite it; matching is over by then. */
  path = "/";
  /** Normalised path as it was matched, for the access log. */
  matchedPath = "/";
  /** Query with its `?`, or empty. Never normalised. */
  query = "";
  /** Path and query of the request and the text that they were received in, where that is canonical. */
  private receivedPath = "";
  private receivedQuery = "";
  private receivedTarget: string | undefined = undefined;
  /** Request fields as the client sent them, hop-by-hop and forwarding fields removed. Filters may change them. */
  headers: Fields;
  /** Address that policies see: the peer, or what a trusted forwarding header says. */
  clientIp: string;

  /** The port that clients see of the listener whose route serves the request; only those of Gateways do something before. */
  publicPort: PublicPort;

  /** What a trusted proxy in front says about the URL that the client used (docs/features/trust-forwarded-for.md). */
  forwardedUrl: ForwardedUrl | undefined = undefined;

  /** The filters of the listener, which ran before there was a route. */
  listenerFilters: readonly Filter[] = noFilters;
  route: CompiledRoute | undefined = undefined;
  /** Counts this request; set with the route, so that a route that is removed meanwhile brings no series back. */
  routeMetrics: RequestMetrics | undefined = undefined;
  /** The filters of the backend, once one has been chosen. */
  backendFilters: readonly Filter[] = noFilters;

  /** Most body bytes that may pass; a larger request is answered 413 (docs/features/max-body-size.md). */
  maxBodyBytes = Number.POSITIVE_INFINITY;

  /** The body, once something had to read it whole; it goes upstream from there (docs/features/ext-auth.md). */
  held: HeldBody | undefined = undefined;

  /** Fields that checks add to the response, be it of the upstream or the proxy's own: see response-filters.ts. */
  clientFields: HeaderList | undefined = undefined;

  /** How the session of the request is kept at its endpoint, where the route says so. */
  affinity: SessionAffinity | undefined = undefined;
  /** How the endpoint of the chosen backend is selected, and the text that is hashed for it, where the route says so. */
  balancing: RequestBalancing | undefined = undefined;
  hashKey = "";
  /** The chosen backend wants a connection for this request only. */
  closesUpstream = false;
  /** Changes what the upstream has written into fields of its response, before anything is added to them. */
  rewriteUpstreamFields: ((headers: Fields) => void) | undefined = undefined;

  /** Limits on the upstream's side (docs/features/timeouts.md). */
  upstreamTimeouts: UpstreamTimeouts | undefined = undefined;
  /** Measures the gaps of the present attempt, where the route limits them. */
  gaps: UpstreamGaps | undefined = undefined;

  /** When the request is sent again (docs/features/retry.md). */
  retry: RetryPlan | undefined = undefined;

  /** The errors that a Service answers; undefined once one does (docs/features/error-pages.md). */
  errorPages: ErrorPagePlan | undefined = undefined;

  /** The upstreams that get a copy of the request (docs/features/mirror-target.md). */
  mirrors: readonly MirrorPlan[] = noMirrors;

  /** The client waits for a 100 before it sends its body (RFC 9110 10.1.1). */
  expectContinue = false;
  /** `websocket` when the client asks to upgrade this connection. */
  upgrade: string | undefined = undefined;
  /** True for gRPC requests, whose errors travel in `grpc-status`. */
  grpc = false;

  /** A filter has waited: the request is no longer in the turn that it began in, and what begins now has a time of its own. */
  hasWaited = false;

  /** True once the response has ended, one way or the other; nothing may be done to the exchange any more. */
  finished = false;
  /** The work under way for this exchange (upstream request, tunnel); set by the part that does it. */
  work: Cancellable | undefined = undefined;
  /** The beginning, and the last byte in either direction, in milliseconds of the awake clock. */
  readonly awakeAtMs: number;
  lastActivityMs: number;
  private ownId: string | undefined = undefined;
  /** Runs where the route limits the whole request. */
  private timer: AwakeTimer | undefined = undefined;
  private atEnd: (() => void)[] | undefined = undefined;
  /** Its place among the active exchanges, theirs to set. */
  activeIndex = -1;

  /** For log and metrics. */
  status = 0;
  attempts = 0;
  /** What the client was sent after its connection was upgraded. */
  tunnelBytesSent = 0;
  /** Bytes of the body that were read, or that the client sent over an upgraded connection. */
  bytesReceived = 0;
  /** The attempts, where the log or the trace shows them. */
  notes: UpstreamNotes | undefined = undefined;
  /** The trace of the request, where there are traces. */
  trace: ExchangeTrace | undefined = undefined;
  /** Where every request has an id that its client gets as well. */
  requestIds: RequestIdAnswer | undefined = undefined;
  upstreamService = "";
  upstreamAddress = "";
  /** How its last attempt came to a connection; undefined when none did. */
  upstreamConnection: "new" | "reused" | undefined = undefined;
  error = "";
  /** The code of `error`, where its text alone does not say it. */
  reason: RefusalCode | undefined = undefined;
  /** What led to `error`, for the access log; undefined: nothing more is known. */
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

  /** Sets path and query as they are matched; `target` is the text of both, where they are as they were received. */
  setPath(path: string, query: string, target?: string): void {
    this.path = path;
    this.matchedPath = path;
    this.query = query;
    this.receivedPath = path;
    this.receivedQuery = query;
    this.receivedTarget = target;
  }

  /** Path and query as they go to the backend; unchanged ones are not put together again. */
  get target(): string {
    const { path, query, receivedTarget } = this;
    const isReceived = path === this.receivedPath && query === this.receivedQuery;
    return isReceived && receivedTarget !== undefined ? receivedTarget : path + query;
  }

  /** Ends the request when its response has not ended this many milliseconds after its head came. */
  limitTo(requestTimeoutMs: number): void {
    const leftMs = requestTimeoutMs - (awake.nowMs - this.awakeAtMs);
    this.timer = new AwakeTimer(() => this.expire("request timeout"), Math.max(0, leftMs));
  }

  /** Answers 504, or cuts a response that has begun; called by the sweep of timeouts. Like `giveUp` harmless once the response has ended. */
  abstract expire(error: RefusalError): void;

  /** Ends the request with this answer, or cuts the response that has begun. */
  abstract giveUp(reply: LocalReply): void;

  /** Called once, when `finished` becomes true. */
  protected abstract onFinish(): void;

  /** Calls back once, when the response has ended, one way or the other. */
  whenFinished(callback: () => void): void {
    if (this.atEnd === undefined) this.atEnd = [callback];
    else this.atEnd.push(callback);
  }

  /** The response is complete, or will never be. */
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

  /** The client's side ended before the response did: logged as 499 when the client left and saw no head. */
  clientClosed(reason: ClientCloseReason): void {
    if (this.finished) return;
    if (!this.client.headSent) this.status = reason === "broken-response" ? 502 : 499;
    if (this.error === "") this.error = closeTexts[reason];
    this.work?.cancel();
    this.finish();
  }

  /** An id of the request, 32 hexadecimal digits; made when it is asked for first. */
  get requestId(): string {
    return (this.ownId ??= newRequestId());
  }

  /** The same where anything has asked for it; empty where nothing has. */
  get knownRequestId(): string {
    return this.ownId ?? "";
  }

  /** Another id in its place: one that a trusted peer sent, or that of a rehearsal. */
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

  /** The same for response fields; they belong to filters of the route and of the chosen backend. */
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

  /** The scheme that the client used, which a trusted proxy in front may know better than the connection. */
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
