import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { ClientConnection } from "../exchange/client-connection.ts";
import type { CompiledRoute, CompiledUpstream } from "../exchange/compiled-route.ts";
import { Exchange, type ExchangeOwner } from "../exchange/exchange.ts";
import type { ErrorPagePlan, Filter } from "../exchange/filter.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { addressAsReceived, parseRequestAddress } from "../message/authority.ts";
import { firstField } from "../message/field-list.ts";
import type { Fields } from "../message/fields.ts";
import { type LocalReply, noSelection, renderReply } from "../message/local-reply.ts";
import type { RequestBody, RequestHead, ResponseHead } from "../message/message.ts";
import { relayedTrailers } from "../message/trailers.ts";
import { isCleanQuery, normalisePath } from "../routing/normalise-path.ts";
import { isOverspent } from "../routing/regex-budget.ts";
import { awake } from "../timing/awake-clock.ts";
import { realNowMs } from "../timing/real-clock.ts";
import type { DemandedRules } from "../tls/client-validation.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { AttemptOwner } from "./attempt-owner.ts";
import { Attempt } from "./attempt.ts";
import { addClientCertificate, isUnproven, refusalByRequest } from "./client-certificate.ts";
import type { PipelineDependencies } from "./dependencies.ts";
import { describeFailure, ErrorPage } from "./error-page.ts";
import type { RequestHandler } from "./front.ts";
import { observe } from "./observe.ts";
import { OutgoingBody } from "./outgoing-body.ts";
import { recordRequest } from "./record-request.ts";
import { malformed, methodNotAllowed, misdirected, noRoute, tooLongToMatch } from "./refusals.ts";
import {
  addForwardingFields,
  fieldsToMatch,
  readRequestFields,
  type RequestFields,
} from "./request-fields.ts";
import { applyResponseFilters } from "./response-filters.ts";
import { Retries } from "./retries.ts";

/** More passes through this proxy than any sane topology has: a loop (RFC 9110 7.6.3, RFC 5842 7.2). */
const maxOwnVias = 10;

/** The gRPC status for a backend that does not exist or is not permitted, which the HTTP status 500 does not say. */
const unavailable = 14;

/**
 * Takes a request from its parsed head to the end of its response. The order of steps is the order of
 * docs/architecture.md, "The life of a request".
 */
export function createPipeline(dependencies: PipelineDependencies): RequestHandler {
  return (connection, head, client) => {
    const exchange = new Exchange(connection, head, client, realNowMs());
    new Request(exchange, dependencies).run(head);
  };
}

class Request implements ExchangeOwner, AttemptOwner {
  readonly exchange: Exchange;
  readonly deps: PipelineDependencies;
  body: OutgoingBody | null = null;
  retries: Retries | undefined = undefined;
  /** The path is that of the page for clients without a valid certificate. */
  private isErrorPage = false;

  constructor(exchange: Exchange, deps: PipelineDependencies) {
    this.exchange = exchange;
    this.deps = deps;
  }

  run(head: RequestHead): void {
    const { exchange } = this;
    this.deps.active.add(exchange);
    exchange.client.onClose = (reason) => exchange.clientClosed(reason);
    exchange.owner = this;

    const fields = readRequestFields(head.headers, head.version);
    exchange.grpc = fields.grpc;
    this.deps.requestIds?.receive(exchange, fields.headers);
    if (head.method === "TRACE" || head.method === "CONNECT") return this.refuse(head, methodNotAllowed);
    const address = parseRequestAddress(head, exchange.connection.forwarding);
    if (!address.ok) return this.refuse(head, malformed.address);
    exchange.authority = address.value.authority;
    exchange.host = address.value.host;
    if (head.target === "*") return this.refuse(head, { status: 204 });
    if (!this.setTarget(address.value.target)) return this.refuse(head, malformed.target);
    if (fields.expect !== undefined && fields.expect !== "100-continue") {
      return this.reply({ status: 417, error: "unknown expectation" });
    }
    if (fields.ownVias >= maxOwnVias) return this.reply({ status: 508, error: "proxy loop" });
    const { listener, tls } = exchange.connection;
    const serverName = tls?.serverName ?? "";
    if (serverName !== "" && serverName !== exchange.host) {
      if (listener.table.isMisdirected(serverName, exchange.host)) return this.reply(misdirected.listener);
    }
    const rules = tls && listener.table.clientRulesOf?.(exchange.host);
    if (isUnproven(exchange.connection, rules)) return this.reply(misdirected.client);
    const byRequest = tls === undefined ? undefined : rules && this.refuseClient(rules);
    if (byRequest !== undefined) return this.reply(byRequest);
    const before = listener.table.filtersOf?.(exchange.host);
    if (before !== undefined) {
      exchange.listenerFilters = before;
      this.prepare(fields, head);
      return this.filter(before, 0);
    }
    const route = this.findRoute(exchange);
    if (route === undefined) return;
    this.prepare(fields, head);
    observe(exchange, route, this.deps.observer);
    this.filter(route.filters, 0);
  }

  /** The answer to a client that the host does not admit; undefined: it is admitted, or served the page for such clients. */
  private refuseClient(rules: DemandedRules): LocalReply | undefined {
    const { exchange } = this;
    const refusal = refusalByRequest(exchange.connection, rules);
    const page = rules.byRequest?.errorPage;
    if (refusal?.status !== 400 || page === undefined) return refusal;
    if (!page.startsWith("/")) {
      return { ...refusal, status: 302, headers: ["Location", page], body: "" };
    }
    const mark = page.indexOf("?");
    exchange.setPath(mark < 0 ? page : page.slice(0, mark), mark < 0 ? "" : page.slice(mark));
    this.isErrorPage = true;
    return undefined;
  }

  /** Finds the route of the request; answers the request and returns undefined when there is none. */
  private findRoute(query: RouteQuery): CompiledRoute | undefined {
    const { exchange } = this;
    const { listener } = exchange.connection;
    const route = listener.table.match(query);
    if (route === undefined) this.reply(isOverspent() ? tooLongToMatch : noRoute);
    else if (!this.isErrorPage) {
      const refusal = this.refusalOfRoute(route);
      if (refusal !== undefined) {
        this.reply(refusal);
        return undefined;
      }
    }
    exchange.route = route;
    exchange.routeMetrics = route?.metricsOf(listener.portLabel);
    if (route !== undefined) exchange.publicPort = listener.publicPorts[route.group];
    return route;
  }

  /** The answer to a client whose certificate the route does not accept, although its host may. */
  private refusalOfRoute({ clients }: CompiledRoute): LocalReply | undefined {
    const { connection } = this.exchange;
    if (clients === undefined || connection.tls === undefined) return undefined;
    return isUnproven(connection, clients) ? misdirected.client : refusalByRequest(connection, clients);
  }

  /** Finds the route after the last filter of the listener; later filters do not change the route. */
  private routeFiltered(): void {
    const { exchange } = this;
    const { host, path, query, method, received, headers } = exchange;
    const route = this.findRoute({ host, path, query, method, headers: fieldsToMatch(received, headers) });
    if (route === undefined) return;
    observe(exchange, route, this.deps.observer);
    this.filter(route.filters, 0);
  }

  /** Prepares the request for filters and upstreams: end-to-end fields, Expect, upgrade, forwarding fields. */
  private prepare(fields: RequestFields, head: RequestHead): void {
    const { exchange } = this;
    exchange.headers = fields.headers;
    // There must be a body to wait for (RFC 9110 10.1.1); backends differ in how they treat Expect without one.
    const { body } = exchange.client;
    exchange.expectContinue = fields.expect !== undefined && body !== null && body.length !== 0;
    // On HTTP/2 only extended CONNECT can be upgraded, which asks for nothing else (RFC 8441).
    const asksForWebSocket = fields.upgrade === "websocket" || head.version === "2.0";
    exchange.upgrade = asksForWebSocket && exchange.client.canUpgrade ? "websocket" : undefined;
    this.addForwarding(exchange.connection, fields.headers);
  }

  /** Answers a request without a canonical address: the log shows the address as received. */
  private refuse(head: RequestHead, reply: LocalReply): void {
    const { authority, path } = addressAsReceived(head);
    this.exchange.authority = authority;
    this.exchange.matchedPath = path;
    this.reply(reply);
  }

  private setTarget(target: string): boolean {
    const { exchange } = this;
    const mark = target.indexOf("?");
    const rawPath = mark < 0 ? target : target.slice(0, mark);
    const path = normalisePath(rawPath, exchange.connection.listener.table.pathLevel(exchange.host));
    const query = mark < 0 ? "" : target.slice(mark);
    if (path === undefined || !isCleanQuery(query)) return false;
    exchange.setPath(path, query, path === rawPath ? target : undefined);
    return true;
  }

  private addForwarding(connection: ClientConnection, headers: Fields): void {
    addForwardingFields(headers, connection, this.exchange, this.deps.via);
    if (connection.tls?.client !== undefined) {
      const { clientRulesOf } = connection.listener.table;
      addClientCertificate(headers, connection, clientRulesOf?.(this.exchange.host));
    }
  }

  /** Runs the filters of the listener, or those of the route, from `index` on; synchronous unless one of them waits. */
  private filter(filters: readonly Filter[], index: number): void {
    const { exchange } = this;
    for (let i = index; i < filters.length; i++) {
      const verdict = filters[i]?.onRequest?.(exchange);
      if (verdict === undefined) continue;
      if (verdict instanceof Promise) {
        this.resumeAfter(verdict, filters, i + 1);
        return;
      }
      return this.reply(verdict);
    }
    if (exchange.route === undefined) this.routeFiltered();
    else this.forward();
  }

  private resumeAfter(
    waiting: Promise<LocalReply | undefined>,
    filters: readonly Filter[],
    next: number,
  ): void {
    this.exchange.hasWaited = true;
    waiting
      .then((reply) => {
        if (this.exchange.finished) return;
        if (reply === undefined) this.filter(filters, next);
        else this.reply(reply);
      })
      .catch((error: unknown) => this.failed(error));
  }

  /** Handles an exception in a later turn than the front's call; exceptions within that call are the front's to handle. */
  private failed(error: unknown): void {
    const { exchange, deps } = this;
    deps.metrics.limitsReached.with({ limit: "handler-failed" }).inc();
    deps.log.error({ err: error }, "request failed inside the proxy");
    if (exchange.finished) return;
    exchange.work?.cancel();
    this.giveUp({ status: 500, error: "filter failed" });
  }

  private forward(): void {
    const { exchange } = this;
    if (exchange.connection.tls === undefined && exchange.route?.clients?.byRequest !== undefined) {
      return this.reply({ status: 403, error: "client certificate required, connection without TLS" });
    }
    exchange.affinity = exchange.route?.affinity;
    const picked = exchange.route?.pickBackend(exchange);
    if (picked === undefined)
      return this.reply({ status: 500, grpcStatus: unavailable, error: "no backend" });
    const standIn = exchange.errorPages?.standIn;
    if (picked.kind === "status") {
      if (standIn !== undefined && picked.status === 503) return this.forwardInstead(standIn);
      if (picked.status === noRoute.status) return this.reply(noRoute);
      return this.reply({ status: picked.status, grpcStatus: unavailable, error: "backend unavailable" });
    }
    const backend = (exchange.secure ? picked.whenSecure : undefined) ?? picked;
    exchange.closesUpstream = backend.closes === true;
    if (backend.unbound === true) exchange.affinity = undefined;
    const { balancing } = backend;
    exchange.balancing = balancing?.balancing;
    if (balancing?.keyOf !== undefined) exchange.hashKey = balancing.keyOf(exchange);
    exchange.backendFilters = backend.filters;
    for (const filter of backend.filters) {
      const verdict = filter.onRequest?.(exchange);
      if (verdict instanceof Promise) throw new Error(`backend filter ${filter.slug} must not wait`);
      if (verdict !== undefined) return this.reply(verdict);
    }
    if (standIn !== undefined && backend.upstream.endpoints.length === 0) return this.forwardInstead(standIn);
    this.forwardTo(backend);
  }

  /** Forwards to the Service that takes requests whose backend has no endpoint; its errors are not replaced. */
  private forwardInstead(standIn: () => Upstream): void {
    const { exchange } = this;
    if (standIn().endpoints.length > 0) {
      describeFailure(exchange, 503, exchange.errorPages?.fields ?? []);
      exchange.errorPages = undefined;
    }
    exchange.backendFilters = [];
    exchange.balancing = undefined;
    this.forwardTo({
      kind: "upstream",
      get upstream() {
        return standIn();
      },
      filters: [],
    });
  }

  private forwardTo(backend: CompiledUpstream): void {
    const { exchange } = this;
    const { upstream } = backend;
    exchange.upstreamService = upstream.service;
    const body = exchange.held ?? exchange.client.body;
    if (body !== null) this.body = this.outgoingBody(body, upstream.protocol);
    if (exchange.mirrors.length > 0) this.deps.mirrors.copy(exchange, this.body);
    if (exchange.retry !== undefined) {
      this.retries = new Retries(this, exchange.retry, backend);
      return this.retries.attempt();
    }
    const selection = upstream.pick(exchange);
    if (selection === undefined) return this.reply(noSelection(upstream));
    new Attempt(this).start(upstream, selection);
  }

  private outgoingBody(source: RequestBody, protocol: Upstream["protocol"]): OutgoingBody {
    const { exchange } = this;
    // A request that an HTTP/2 server has not processed is sent again on every route (docs/features/http2.md, "Towards backends").
    const keepsBeginning = protocol === "http2";
    return new OutgoingBody(source, exchange.client, {
      maxBytes: exchange.maxBodyBytes,
      expectContinue: exchange.expectContinue,
      replayBytes: exchange.retry === undefined && !keepsBeginning ? 0 : this.deps.retryBufferBytes,
      keepsBeginning,
      onProgress: () => (exchange.lastActivityMs = awake.nowMs),
      relayTrailers: (trailers) => relayedTrailers(trailers, exchange.headers, exchange.ownedFields),
    });
  }

  /** Answers the request; the response filters of the chosen route and backend see the answer too. */
  reply(reply: LocalReply): void {
    const { exchange } = this;
    const { client } = exchange;
    if (exchange.finished) return;
    if (exchange.errorPages !== undefined && this.showErrorPage(exchange.errorPages, reply)) return;
    exchange.status = reply.status;
    if (reply.error !== undefined) {
      exchange.error = reply.error;
      exchange.reason = reply.reason;
      exchange.detail = reply.detail;
    }
    const rendered = renderReply(reply, { head: exchange.method === "HEAD", grpc: exchange.grpc });
    applyResponseFilters(exchange, rendered.head);
    if (reply.close === true) client.closeAfterResponse();
    client.sendHead(rendered.head);
    if (rendered.body !== "") client.write(rendered.body);
    client.end(undefined);
    exchange.finish();
  }

  /** Has a Service answer in place of an error of the proxy; false where none does. An error of the Service is not replaced. */
  private showErrorPage(plan: ErrorPagePlan, error: LocalReply): boolean {
    const { exchange } = this;
    if (!this.isReplaced(plan, error.status)) return false;
    exchange.errorPages = undefined;
    const challenge = firstField(error.headers ?? [], "www-authenticate");
    if (challenge !== undefined) (exchange.clientFields ??= []).push("WWW-Authenticate", challenge);
    return new ErrorPage(this, error).start(plan);
  }

  /** Errors of gRPC are in trailers, and a client that asks for a tunnel over HTTP/2 can take none but a refusal. */
  private isReplaced({ codes }: ErrorPagePlan, status: number): boolean {
    const { exchange } = this;
    const isTunnel = exchange.version === "2.0" && exchange.upgrade !== undefined;
    return codes.has(status) && !exchange.grpc && !isTunnel;
  }

  intercepts({ status, headers }: ResponseHead): boolean {
    const plan = this.exchange.errorPages;
    if (plan?.takesBackends !== true || !this.isReplaced(plan, status)) return false;
    const challenge = status === 401 ? headers.first("www-authenticate") : undefined;
    this.reply({ status, ...(challenge !== undefined && { headers: ["WWW-Authenticate", challenge] }) });
    return true;
  }

  /** Ends a request whose time is over: with 504, or by cutting a response that has begun. */
  expire(error: RefusalError): void {
    const { exchange } = this;
    exchange.work?.cancel(!exchange.client.headSent);
    this.giveUp({ status: 504, error });
  }

  giveUp(reply: LocalReply): void {
    const { exchange } = this;
    if (!exchange.client.headSent) {
      exchange.client.takeBack();
      return this.reply(reply);
    }
    exchange.error = reply.error ?? "";
    exchange.reason = reply.reason;
    exchange.detail = reply.detail;
    exchange.client.abort();
    exchange.finish();
  }

  onFinish(): void {
    const { exchange, deps } = this;
    deps.active.delete(exchange);
    if (this.body !== null) {
      this.body.close();
      exchange.bytesReceived += this.body.receivedBytes;
    }
    exchange.gaps?.stop();
    exchange.held?.release();
    recordRequest(exchange, deps);
  }
}
