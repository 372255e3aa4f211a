import type { RefusalError } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import type { ClientConnection } from "../exchange/client-connection.ts";
import type { CompiledRoute, CompiledUpstream, UnservedShare } from "../exchange/compiled-route.ts";
import { Exchange } from "../exchange/exchange.ts";
import type { ErrorPagePlan, Filter } from "../exchange/filter.ts";
import type { RouteQuery } from "../exchange/route-query.ts";
import { firstField } from "../message/field-list.ts";
import { type LocalReply, noSelection } from "../message/local-reply.ts";
import type { ClientStream, RequestHead, ResponseHead } from "../message/message.ts";
import { isOverspent } from "../routing/regex-budget.ts";
import { realNowMs } from "../timing/real-clock.ts";
import type { CompiledBalancing, Upstream } from "../upstream/upstream.ts";
import { admit } from "./admission.ts";
import { answer, cutOff } from "./answer.ts";
import type { AttemptOwner } from "./attempt-owner.ts";
import { Attempt } from "./attempt.ts";
import { isUnproven, refusalByRequest } from "./client-certificate.ts";
import type { PipelineDependencies } from "./dependencies.ts";
import { describeFailure, ErrorPage, isReplaced, withholdUnchecked } from "./error-page.ts";
import type { RequestHandler } from "./front.ts";
import { observe } from "./observe.ts";
import { type OutgoingBody, outgoingBodyOf } from "./outgoing-body.ts";
import { prepareRequest } from "./prepare-request.ts";
import { recordRequest } from "./record-request.ts";
import { misdirected, noRoute, tooLongToMatch } from "./refusals.ts";
import { fieldsToMatch, readRequestFields } from "./request-fields.ts";
import { Retries } from "./retries.ts";

/** gRPC status UNAVAILABLE, for a backend that does not exist or is not permitted; not derivable from HTTP 500. */
const unavailable = 14;

/**
 * Creates the handler that processes a request from its parsed head to the end of its response. The order of steps is
 * that of docs/architecture.md, "The life of a request".
 */
export const createPipeline =
  (dependencies: PipelineDependencies): RequestHandler =>
  (connection, head, client) =>
    new Request(dependencies, connection, head, client).run(head);

/** An exchange with the steps of the pipeline. */
class Request extends Exchange implements AttemptOwner {
  readonly deps: PipelineDependencies;
  body: OutgoingBody | null = null;
  retries: Retries | undefined = undefined;
  isCertificatePage = false;
  /** True once all filters of the route have let the request pass. */
  private isAdmitted = false;

  constructor(
    deps: PipelineDependencies,
    connection: ClientConnection,
    head: RequestHead,
    client: ClientStream,
  ) {
    super(connection, head, client, realNowMs());
    this.deps = deps;
  }

  get exchange(): Exchange {
    return this;
  }

  run(head: RequestHead): void {
    const { deps, connection } = this;
    deps.active.add(this);
    this.client.onClose = (reason) => this.clientClosed(reason);
    const fields = readRequestFields(head.headers, head.version);
    this.grpc = fields.grpc;
    deps.requestIds?.receive(this, fields.headers);
    const refusal = admit(this, head, fields);
    if (refusal !== undefined) return this.reply(refusal);
    const before = connection.listener.table.filtersOf?.(this.host);
    if (before !== undefined) {
      this.listenerFilters = before;
      prepareRequest(this, fields, head, deps.via);
      return this.filter(before, 0);
    }
    const route = this.findRoute(this);
    if (route === undefined) return;
    prepareRequest(this, fields, head, deps.via);
    this.enter(route);
  }

  /** Finds the route of the request; answers the request and returns undefined when there is none. */
  private findRoute(query: RouteQuery): CompiledRoute | undefined {
    const { listener } = this.connection;
    const route = listener.table.match(query);
    if (route === undefined) {
      this.reply(notFound());
      return undefined;
    }
    this.route = route;
    this.routeMetrics = route.metricsOf(listener.portLabel);
    this.publicPort = listener.publicPorts[route.group];
    return route;
  }

  /** Applies the rules for clients of the route, then its filters. */
  private enter(route: CompiledRoute): void {
    observe(this, route, this.deps.observer);
    const refusal = this.refusalOf(route);
    if (refusal === undefined) return this.filter(route.filters, 0);
    // The access log contains the client's address, also of such a request.
    const [first] = route.filters;
    if (first?.slug === "trust-forwarded-for") void first.onRequest?.(this);
    this.reply(refusal);
  }

  /** Returns the reply to a client whose certificate the route does not accept, although its host may. */
  private refusalOf({ clients }: CompiledRoute): LocalReply | undefined {
    const { connection } = this;
    if (clients === undefined || connection.tls === undefined || this.isCertificatePage) return undefined;
    return isUnproven(connection, clients) ? misdirected.client : refusalByRequest(connection, clients);
  }

  /** Finds the route after the last filter of the listener; later filters do not change the route. */
  private routeFiltered(): void {
    const { host, path, query, method, received, headers, authority } = this;
    const fields = fieldsToMatch(received, headers);
    const route = this.findRoute({ host, path, query, method, headers: fields, authority });
    if (route !== undefined) this.enter(route);
  }

  /** Runs the filters of the listener, or those of the route, from `index` on; synchronous unless one of them waits. */
  private filter(filters: readonly Filter[], index: number): void {
    for (let i = index; i < filters.length; i++) {
      const verdict = filters[i]?.onRequest?.(this);
      if (verdict === undefined) continue;
      if (verdict instanceof Promise) return this.resumeAfter(verdict, filters, i + 1);
      return this.reply(verdict);
    }
    if (this.route === undefined) this.routeFiltered();
    else this.forward(this.route);
  }

  private resumeAfter(
    waiting: Promise<LocalReply | undefined>,
    filters: readonly Filter[],
    next: number,
  ): void {
    this.hasWaited = true;
    waiting
      .then((reply) => {
        if (this.finished) return;
        if (reply === undefined) this.filter(filters, next);
        else this.reply(reply);
      })
      .catch((error: unknown) => this.failed(error));
  }

  /** Handles an exception after a filter has waited; earlier ones are thrown to the front, which handles them. */
  private failed(error: unknown): void {
    const { deps } = this;
    deps.metrics.limitsReached.with({ limit: "handler-failed" }).inc();
    deps.log.error({ err: error }, "request failed inside the proxy");
    this.work?.cancel();
    this.giveUp({ status: 500, error: "filter failed" });
  }

  private forward(route: CompiledRoute): void {
    this.isAdmitted = true;
    if (route.clients?.byRequest !== undefined && this.connection.tls === undefined) {
      return this.reply({ status: 403, error: "client certificate required, connection without TLS" });
    }
    this.affinity = route.affinity;
    const picked = route.pickBackend(this);
    if (picked.kind === "status") return this.answerShare(picked);
    const backend = (this.secure ? picked.whenSecure : undefined) ?? picked;
    this.closesUpstream = backend.closes === true;
    if (backend.unbound === true) this.affinity = undefined;
    const { balancing, filters } = backend;
    if (balancing !== undefined) {
      this.balancing = balancing.balancing;
      if (balancing.keyOf !== undefined) this.hashKey = balancing.keyOf(this);
    }
    this.backendFilters = filters;
    for (let i = 0; i < filters.length; i++) {
      const filter = filters[i] as Filter;
      const verdict = filter.onRequest?.(this);
      if (verdict instanceof Promise) throw new Error(`backend filter ${filter.slug} must not wait`);
      if (verdict !== undefined) return this.reply(verdict);
    }
    const standIn = this.errorPages?.standIn;
    if (standIn !== undefined && backend.upstream.endpoints.length === 0) return this.forwardInstead(standIn);
    this.forwardTo(backend);
  }

  /** Answers a request for which a backend that does not exist was picked. */
  private answerShare({ status, fault }: UnservedShare): void {
    if (fault === "filter") return this.reply({ status, error: "filter not resolved" });
    const standIn = this.errorPages?.standIn;
    if (standIn !== undefined && status === 503) return this.forwardInstead(standIn);
    if (status === noRoute.status) return this.reply(noRoute);
    this.reply({ status, grpcStatus: unavailable, error: "backend unavailable" });
  }

  /** Forwards to the Service for requests whose backend has no endpoint. Errors of that Service are not replaced. */
  private forwardInstead(standIn: () => Upstream): void {
    if (standIn().endpoints.length > 0) {
      describeFailure(this, 503, this.errorPages?.fields ?? []);
      this.errorPages = undefined;
    }
    this.backendFilters = [];
    this.balancing = undefined;
    this.forwardTo({
      kind: "upstream",
      get upstream() {
        return standIn();
      },
      filters: [],
    });
  }

  private forwardTo(backend: CompiledUpstream): void {
    const { upstream } = backend;
    if (upstream.cleartext !== undefined && !this.secure) return this.forwardTo(inCleartext(backend));
    if (upstream.balancing !== undefined && this.balancing === undefined) this.hashAs(upstream.balancing);
    this.upstreamService = upstream.service;
    const body = this.held ?? this.client.body;
    if (body !== null) this.body = outgoingBodyOf(this, body, upstream.protocol, this.deps.retryBufferBytes);
    if (this.mirrors.length > 0) this.deps.mirrors.copy(this, this.body);
    if (this.retry !== undefined) {
      this.retries = new Retries(this, this.retry, backend);
      return this.retries.attempt();
    }
    const selection = upstream.pick(this);
    if (selection === undefined) return this.reply(noSelection(upstream));
    new Attempt(this, upstream, selection).start();
  }

  private hashAs({ balancing, keyOf }: CompiledBalancing): void {
    const key = keyOf?.(this) ?? "";
    if (key === "") return;
    this.balancing = balancing;
    this.hashKey = key;
  }

  reply(reply: LocalReply): void {
    if (this.finished) return;
    if (this.errorPages !== undefined && this.showErrorPage(this.errorPages, reply)) return;
    answer(this, reply);
  }

  /** Requests the error page from a Service; returns false if none is available. Its errors are not replaced. */
  private showErrorPage(plan: ErrorPagePlan, error: LocalReply): boolean {
    if (!isReplaced(this, plan, error.status)) return false;
    this.errorPages = undefined;
    if (!this.isAdmitted) withholdUnchecked(this);
    const challenge = firstField(error.headers ?? [], "www-authenticate");
    if (challenge !== undefined) (this.clientFields ??= []).push("WWW-Authenticate", challenge);
    return new ErrorPage(this, error).start(plan);
  }

  intercepts({ status, headers }: ResponseHead): boolean {
    const plan = this.errorPages;
    if (plan?.takesBackends !== true || !isReplaced(this, plan, status)) return false;
    const challenge = status === 401 ? headers.first("www-authenticate") : undefined;
    this.reply({ status, ...(challenge !== undefined && { headers: ["WWW-Authenticate", challenge] }) });
    return true;
  }

  expire(error: RefusalError): void {
    this.work?.cancel(!this.client.headSent);
    this.giveUp({ status: 504, error });
  }

  giveUp(reply: LocalReply): void {
    if (this.finished) return;
    if (this.client.headSent) return cutOff(this, reply);
    this.client.takeBack();
    this.reply(reply);
  }

  protected onFinish(): void {
    const { deps, body } = this;
    deps.active.delete(this);
    if (body !== null) {
      body.close();
      this.bytesReceived += body.receivedBytes;
    }
    this.gaps?.stop();
    this.held?.release();
    recordRequest(this, deps);
  }
}

/**
 * Returns the backend for requests received without TLS: its cleartext upstream, while the policy of the Service sets
 * one.
 */
const inCleartext = (backend: CompiledUpstream): CompiledUpstream => ({
  kind: "upstream",
  get upstream() {
    const { upstream } = backend;
    return upstream.cleartext?.() ?? upstream;
  },
  filters: [],
});

/** Returns the reply to a request without a route: 404, or 414 if the lookup exceeded its budget. */
const notFound = (): LocalReply => (isOverspent() ? tooLongToMatch : noRoute);
