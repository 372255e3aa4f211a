import { fakeLog } from "../../../common/test/telemetry/fake-log.ts";
import type { ClientConnection } from "../../src/exchange/client-connection.ts";
import type { CompiledBackend, CompiledRoute } from "../../src/exchange/compiled-route.ts";
import type { Filter } from "../../src/exchange/filter.ts";
import { ActiveExchanges } from "../../src/http/active-exchanges.ts";
import { GapSweep } from "../../src/http/gap-sweep.ts";
import { Mirrors } from "../../src/http/mirrors.ts";
import { createPipeline } from "../../src/http/pipeline.ts";
import { ResponseMemory } from "../../src/http/response-memory.ts";
import { Fields } from "../../src/message/fields.ts";
import type {
  BodySink,
  Chunk,
  ClientCloseReason,
  ClientStream,
  HeaderList,
  RequestBody,
  RequestHead,
  ResponseHead,
} from "../../src/message/message.ts";
import type { AccessRecord } from "../../src/telemetry/access-record.ts";
import { recordingLog } from "../telemetry/recording-log.ts";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import type {
  UpstreamClient,
  UpstreamEndpoint,
  UpstreamHandler,
  UpstreamRequest,
} from "../../src/upstream/upstream.ts";
import { samePublicPorts } from "../listeners/public-ports.ts";
import { type Listed, listed } from "../message/listed.ts";

/** A client stream that records its calls. */
export class FakeClient implements ClientStream {
  readonly body: FakeBody | null;
  readonly informational: [number, HeaderList][] = [];
  head: Listed<ResponseHead> | undefined;
  text = "";
  trailers: HeaderList | undefined;
  readonly canUpgrade = true;
  ended = false;
  aborted = false;
  closing = false;
  /** The fields of a 101 from the pipeline; this fake does not perform the upgrade. */
  upgradeFields: HeaderList | undefined;
  onDrain: (() => void) | null = null;
  onHeadSent: (() => void) | null = null;
  /** Set to hold the head back, as a front does until the end of a turn, so that it can be withdrawn. */
  holdsHead = false;
  onClose: ((reason: ClientCloseReason) => void) | null = null;

  constructor(body: FakeBody | null = null) {
    this.body = body;
  }

  get headSent(): boolean {
    return this.head !== undefined && !this.holdsHead;
  }
  get bytesSent(): number {
    return this.text.length;
  }
  sendInformational(status: number, headers: HeaderList): void {
    this.informational.push([status, headers]);
  }
  sendHead(head: ResponseHead): void {
    this.head = listed(head);
    if (!this.holdsHead) this.onHeadSent?.();
  }
  takeBack(): void {
    if (!this.holdsHead) return;
    this.head = undefined;
    this.text = "";
  }
  write(chunk: Chunk): boolean {
    this.text += chunk.toString();
    return true;
  }
  end(trailers: HeaderList | undefined): void {
    this.trailers = trailers;
    this.ended = true;
  }
  abort(): void {
    this.aborted = true;
  }
  closeAfterResponse(): void {
    this.closing = true;
  }
  upgrade(headers: Fields): undefined {
    this.upgradeFields = [...headers.toList()];
    return undefined;
  }
}

/** A request body whose chunks the test passes to its sink. */
export class FakeBody implements RequestBody {
  readonly length: number | undefined;
  sink: BodySink | undefined;
  resumed = 0;

  constructor(length?: number) {
    this.length = length;
  }
  get started(): boolean {
    return this.sink !== undefined;
  }
  start(sink: BodySink): void {
    this.sink = sink;
  }
  resume(): void {
    this.resumed++;
  }
}

type Sent = {
  readonly endpoint: UpstreamEndpoint;
  readonly request: Listed<UpstreamRequest>;
  readonly handler: UpstreamHandler;
};

/** An upstream client that records its requests. */
export class FakeUpstream implements UpstreamClient {
  readonly sent: Sent[] = [];
  aborted = 0;
  resumed = 0;

  send(endpoint: UpstreamEndpoint, request: UpstreamRequest, handler: UpstreamHandler) {
    this.sent.push({ endpoint, request: listed(request), handler });
    return { resume: () => void this.resumed++, abort: () => void this.aborted++ };
  }
  retire(): void {}
  close(): void {}

  /** Starts to read the body of the last request. As with a real client, the request fails if the body is aborted. */
  readBody(): void {
    const { request, handler } = this.last;
    request.body?.start({
      onData: () => true,
      onEnd: () => {},
      onAbort: () => handler.onError({ kind: "request-body", text: "request body", requestSent: true }),
    });
  }

  get last(): Sent {
    const found = this.sent.at(-1);
    if (found === undefined) throw new Error("nothing was sent upstream");
    return found;
  }
}

export const requestHead = (given: Partial<RequestHead>): RequestHead => ({
  version: "1.1",
  method: "GET",
  target: "/a",
  authority: undefined,
  scheme: undefined,
  headers: Fields.of(["Host", "a.example"]),
  ...given,
});

/** An endpoint at a port of loopback. */
export const endpointAt = (port: number): UpstreamEndpoint => ({
  host: "127.0.0.1",
  port,
  address: `127.0.0.1:${port}`,
});

/** A pipeline with one route for every path below `/a`, driven by the test. */
export function createBench(
  options: {
    filters?: readonly Filter[];
    backend?: CompiledBackend;
    backendFilters?: readonly Filter[];
    /** The number of endpoints; they are picked in order, tried ones last. */
    endpoints?: number;
    /** The random number by which requests are selected for mirrors. */
    random?: number;
    /**
     * The server name of the handshake; absent for cleartext. Only `other` belongs to a different listener than the
     * host.
     */
    serverName?: string;
  } = {},
) {
  const endpoints = Array.from({ length: options.endpoints ?? 1 }, (_, index) => endpointAt(index + 1));
  const upstream = new FakeUpstream();
  const records: AccessRecord[] = [];
  const metrics = createProxyMetrics();
  const active = new ActiveExchanges({
    streamIdleTimeoutMs: 1_000,
    tunnelIdleTimeoutMs: 10_000,
    requestTimeoutMs: 5_000,
  });
  const retryBudget = new RetryBudget(0);
  const backend: CompiledBackend = options.backend ?? {
    kind: "upstream",
    filters: options.backendFilters ?? [],
    upstream: {
      key: "ns/web/80",
      service: "ns/web",
      protocol: "http1",
      endpoints,
      retryBudget,
      pick(_, tried) {
        const endpoint = endpoints.find((one) => tried?.has(one) !== true) ?? endpoints[0];
        return endpoint && { endpoint, watch: undefined, setCookie: undefined };
      },
    },
  };
  const route: CompiledRoute = {
    id: "ingress/ns/web:0.0",
    group: "ingress",
    namespace: "ns",
    pattern: "/a",
    accessLog: true,
    hasOwnTimeouts: false,
    clients: undefined,
    filters: options.filters ?? [],
    metricsOf: (listener) => metrics.requestMetrics(listener, "ingress/ns/web:0.0"),
    pickBackend: () => backend,
  };
  const mirrorUpstream = new FakeUpstream();
  const observer = { accessLog: recordingLog(records), tracer: undefined };
  const log = fakeLog();
  const mirrors = new Mirrors({
    client: mirrorUpstream,
    observer,
    metrics,
    log,
    random: () => options.random ?? 0,
  });
  const gapSweep = new GapSweep();
  const handle = createPipeline({
    mirrors,
    gapSweep,
    log,
    client: upstream,
    metrics,
    active,
    via: true,
    retryBufferBytes: 16,
    responseMemory: new ResponseMemory(),
    upstreamConnections: {
      new: metrics.upstreamConnections.with({ state: "new" }),
      reused: metrics.upstreamConnections.with({ state: "reused" }),
    },
    observer,
  });
  const connection: ClientConnection = {
    remoteAddress: "192.0.2.7",
    remotePort: 5000,
    proxied: false,
    tls:
      options.serverName === undefined ? undefined : { serverName: options.serverName, version: "TLSv1.3" },
    listener: {
      port: 80,
      portLabel: "80",
      publicPorts: samePublicPorts(80),
      secure: false,
      draining: false,
      table: {
        pathLevel: () => "base",
        filtersOf: undefined,
        clientRulesOf: undefined,
        isMisdirected: (serverName) => serverName === "other",
        groupOf: () => undefined,
        match: ({ path }) => (path.startsWith("/a") ? route : undefined),
      },
    },
  };
  const request = (given: Partial<RequestHead> = {}, body: FakeBody | null = null): FakeClient => {
    const client = new FakeClient(body);
    handle(connection, requestHead(given), client);
    return client;
  };
  return {
    request,
    upstream,
    mirrorUpstream,
    records,
    metrics,
    active,
    endpoints,
    retryBudget,
    log,
    gapSweep,
  };
}

/** Returns the value of the first field of a name, which must be in lower case. */
export const fieldOf = (headers: readonly string[], name: string): string | undefined => {
  const index = headers.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name);
  return index < 0 ? undefined : headers[index + 1];
};
