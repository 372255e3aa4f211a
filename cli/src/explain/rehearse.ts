/**
 * Runs a request through the pipeline of the data plane, except for the last step: the request to an endpoint is
 * recorded instead of sent. `explain` therefore cannot claim that the gateway forwards a request that it rejects.
 */
import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import { silentLogger } from "@svc-gateway/common/telemetry/logger.ts";
import type { CompiledRoute } from "@svc-gateway/proxy/exchange/compiled-route.ts";
import type { Filter } from "@svc-gateway/proxy/exchange/filter.ts";
import type { PublicPort } from "@svc-gateway/proxy/exchange/listener-view.ts";
import type { PortTable } from "@svc-gateway/proxy/exchange/port-table.ts";
import { ActiveExchanges } from "@svc-gateway/proxy/http/active-exchanges.ts";
import type { PipelineDependencies } from "@svc-gateway/proxy/http/dependencies.ts";
import { GapSweep } from "@svc-gateway/proxy/http/gap-sweep.ts";
import { createPipeline } from "@svc-gateway/proxy/http/pipeline.ts";
import { ResponseMemory } from "@svc-gateway/proxy/http/response-memory.ts";
import type { ClientStream, ResponseHead } from "@svc-gateway/proxy/message/message.ts";
import { noAccessLog } from "@svc-gateway/proxy/telemetry/access-log.ts";
import { createProxyMetrics } from "@svc-gateway/proxy/telemetry/metrics.ts";
import type { UpstreamRequest } from "@svc-gateway/proxy/upstream/upstream.ts";
import { serviceOf } from "./data-plane.ts";
import { predictFilter, addIdentityHeaders } from "./predict-filter.ts";
import type { ExplainedRequest } from "./request.ts";

/** The response, or the backend that produces it. */
export type ExplainedReply = {
  /**
   * `backend`: the request is sent to a backend. `gateway`, or the name of a feature (`auth-jwt`,
   * `client-certificates`): it answers the request. `none`: there is no HTTP response, because the connection or
   * handshake is refused.
   */
  readonly by: string;
  readonly status?: number;
  /** The location of a redirect. */
  readonly location?: string;
  /** Preceding features that can reject the request, depending on the client, the body or earlier requests. */
  readonly after: readonly string[];
};

/** The request as a backend receives it. Values that depend on the client are placeholders in angle brackets. */
export type ExplainedUpstreamRequest = Pick<UpstreamRequest, "method" | "target"> & {
  /** `namespace/name`. */
  readonly service: string;
  /** The value of Host, or of `:authority`. */
  readonly host: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
};

export type Rehearsal = {
  readonly reply: ExplainedReply;
  /** The requests, one for each backend that gets any; empty if the gateway answers. */
  readonly sent: readonly ExplainedUpstreamRequest[];
};

type Options = {
  readonly asked: ExplainedRequest;
  readonly table: PortTable;
  readonly port: number;
  readonly publicPorts: { readonly gateway: number; readonly ingress: number };
  /** The features of the route that takes the request. */
  readonly features: RouteFeatures | undefined;
  /** Whether the endpoint set of this name has endpoints. */
  readonly hasEndpoints: (name: string) => boolean;
  /** The Services of the backends of the route that get requests. */
  readonly services: readonly string[];
};

/** The placeholder for the address of the client, which is not known. */
const unknownClient = "<client>";

/** The placeholder for the request id, which differs for each request. */
const randomId = "<request id>";

/**
 * The maximum number of rehearsals. Requests are distributed by weight; after this many, every backend with at least a
 * thousandth of the weight has received one.
 */
const maxTries = 2_000;

export function rehearse(options: Options): Rehearsal {
  const sent = new Map<string, ExplainedUpstreamRequest>();
  let reply: ExplainedReply | undefined;
  let after: readonly string[] = [];
  for (let tries = 0; tries < maxTries; tries++) {
    const outcome = rehearseOnce(options);
    ({ after } = outcome);
    if (outcome.upstream !== undefined) sent.set(JSON.stringify(outcome.upstream), outcome.upstream);
    else reply ??= outcome.reply;
    // The answer of a filter does not depend on the backend.
    if (outcome.isByFilter || sent.size >= options.services.length) break;
  }
  const inOrder = [...sent.values()].sort(
    (a, b) => options.services.indexOf(a.service) - options.services.indexOf(b.service),
  );
  return { reply: sent.size > 0 || reply === undefined ? { by: "backend", after } : reply, sent: inOrder };
}

type Outcome = {
  readonly reply: ExplainedReply | undefined;
  readonly upstream: ExplainedUpstreamRequest | undefined;
  readonly after: readonly string[];
  readonly isByFilter: boolean;
};

function rehearseOnce({ asked, table, port, publicPorts, features, hasEndpoints }: Options): Outcome {
  const after: string[] = [];
  let decided: string | undefined;
  let upstream: ExplainedUpstreamRequest | undefined;
  let head: ResponseHead | undefined;
  const watch = (filter: Filter): Filter => {
    const { onRequest, slug } = filter;
    if (onRequest === undefined) return filter;
    return {
      ...filter,
      onRequest(exchange) {
        exchange.requestId = randomId;
        const verdict = predictFilter(slug, { asked, features, hasEndpoints }) ?? onRequest(exchange);
        if (verdict === undefined) return undefined;
        if (verdict === "depends" || verdict instanceof Promise) {
          if (verdict instanceof Promise) verdict.catch(() => undefined);
          after.push(slug);
          addIdentityHeaders(slug, features, exchange.headers);
          return undefined;
        }
        decided = slug;
        return verdict;
      },
    };
  };
  let taken: CompiledRoute | undefined;
  const client = createClient((sent) => (head ??= sent));
  const handle = createPipeline({
    ...dependencies(),
    client: {
      ...noUpstreams,
      send(endpoint, request) {
        upstream = describeUpstream(serviceOf(endpoint), request);
        return { resume: () => undefined, abort: () => undefined };
      },
    },
  });
  const isSecure = asked.scheme === "https";
  const publicPort = (number: number): PublicPort => ({ port: number, label: String(number) });
  handle(
    {
      remoteAddress: unknownClient,
      remotePort: 0,
      proxied: false,
      listener: {
        port,
        portLabel: String(port),
        publicPorts: { gateway: publicPort(publicPorts.gateway), ingress: publicPort(publicPorts.ingress) },
        secure: isSecure,
        table: watchTable(table, isSecure, watch, (route) => (taken = route)),
        draining: false,
      },
      tls: isSecure ? { serverName: asked.serverName, version: "TLSv1.3" } : undefined,
    },
    {
      version: "1.1",
      method: asked.method,
      target: `${asked.rawPath}${asked.query}`,
      authority: undefined,
      scheme: undefined,
      headers: asked.headers,
    },
    client,
  );
  // Ends the exchange, in particular its timers.
  client.onClose?.("client-closed");
  // Such a route requires a client certificate, which no connection without TLS has, so no backend was chosen.
  if (upstream === undefined && !isSecure && taken?.clients?.byRequest !== undefined) {
    decided ??= "client-certificates";
  }
  const reply = upstream === undefined && head !== undefined ? describeHead(head, decided, after) : undefined;
  return { reply, upstream, after, isByFilter: decided !== undefined };
}

const describeHead = (
  head: ResponseHead,
  by: string | undefined,
  after: readonly string[],
): ExplainedReply => {
  const location = head.headers.first("location");
  return {
    by: by ?? "gateway",
    status: head.status,
    ...(location !== undefined && { location }),
    after,
  };
};

/**
 * Wraps a table so that the results of filters are recorded. Client certificates are already checked by
 * explain/clients.ts, except for requests without TLS, which have none.
 */
function watchTable(
  table: PortTable,
  isSecure: boolean,
  watch: (filter: Filter) => Filter,
  onMatch: (route: CompiledRoute) => void,
): PortTable {
  return {
    pathLevel: (host) => table.pathLevel(host),
    filtersOf: (host) => table.filtersOf?.(host)?.map(watch),
    clientRulesOf: undefined,
    match(query) {
      const route = table.match(query);
      if (route !== undefined) onMatch(route);
      return (
        route &&
        (Object.create(route, {
          filters: { value: route.filters.map(watch) },
          ...(isSecure && { clients: { value: undefined } }),
        }) as CompiledRoute)
      );
    },
    isMisdirected: (serverName, host) => table.isMisdirected(serverName, host),
    groupOf: (host) => table.groupOf(host),
  };
}

function describeUpstream(
  service: string,
  { method, target, authority, headers }: UpstreamRequest,
): ExplainedUpstreamRequest {
  const fields = headers.pairs().map(([name, value]) => ({ name, value }));
  return { service, method, target, host: authority, headers: fields };
}

const createClient = (onHead: (head: ResponseHead) => void): ClientStream => ({
  body: null,
  canUpgrade: true,
  headSent: false,
  bytesSent: 0,
  sendInformational: () => undefined,
  sendHead: onHead,
  takeBack: () => undefined,
  write: () => true,
  end: () => undefined,
  abort: () => undefined,
  closeAfterResponse: () => undefined,
  upgrade: () => undefined,
  onDrain: null,
  onHeadSent: null,
  onClose: null,
});

const noUpstreams = { retire: () => undefined, close: () => undefined };

/** The dependencies of a rehearsal; its metrics and logs are discarded. */
function dependencies(): Omit<PipelineDependencies, "client"> {
  const metrics = createProxyMetrics();
  return {
    observer: { accessLog: noAccessLog, tracer: undefined },
    metrics,
    upstreamConnections: {
      new: metrics.upstreamConnections.with({ state: "new" }),
      reused: metrics.upstreamConnections.with({ state: "reused" }),
    },
    active: new ActiveExchanges({ streamIdleTimeoutMs: 0, tunnelIdleTimeoutMs: 0, requestTimeoutMs: 0 }),
    gapSweep: new GapSweep(),
    // Mirrored requests are discarded.
    mirrors: { copy: () => undefined } as unknown as PipelineDependencies["mirrors"],
    log: silentLogger,
    via: true,
    retryBufferBytes: 0,
    responseMemory: new ResponseMemory(),
  };
}
