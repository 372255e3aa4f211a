import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { Counter, type Histogram } from "@svc-gateway/common/telemetry/metric-family.ts";
import { proxyMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { registeredMethods } from "@svc-gateway/common/telemetry/registered-methods.ts";
import { exposeMetrics, type Exposition } from "@svc-gateway/common/telemetry/exposition.ts";
import {
  createMetricSet,
  exportMetrics,
  type AnyMetricSet,
  type MetricExport,
  type MetricSet,
} from "@svc-gateway/common/telemetry/metric-set.ts";

/** Counts the requests of one (listener, route): created when first needed, then one addition per event. */
export type RequestMetrics = {
  /** Counts one answered request. Unregistered method names are counted as `OTHER`. */
  count(method: string, status: number): void;
  /** Records the duration of one request in seconds. */
  observe(seconds: number): void;
  /** Counts the bytes of the bodies of one request, read from the client and sent to it. */
  transferred(receivedBytes: number, sentBytes: number): void;
  /** Records the seconds until an upstream began to answer. */
  responded(seconds: number): void;
  /** Records the seconds until a new connection to an upstream was ready. */
  connected(seconds: number): void;
};

/** The metrics of one worker of a proxy (docs/reference/metrics.md). */
export type ProxyMetrics = MetricSet<typeof proxyMetrics> & {
  /**
   * The request metrics of a listener port and a route id; the same object for the same pair, so counts carry over
   * from one routing table to the next. The route id is empty for requests without a route.
   */
  requestMetrics(listener: string, route: string): RequestMetrics;
  /**
   * Drops all series of routes that are not served, including those that requests of a removed route have created
   * again. Series without a route are kept.
   */
  retainRoutes(isServed: (routeId: string) => boolean): void;
  /** Registers a function that updates gauges without events of their own; called before every export. */
  beforeExport(refresh: () => void): void;
  /** All values as plain data, to be merged with those of other workers (merged-metrics.ts). */
  export(): MetricExport;
  /** All values, and those of other parts of the process, in the Prometheus text format. */
  expose(...others: readonly AnyMetricSet[]): Promise<Exposition>;
};

/** Creates the metrics of one worker, including the dropped lines of `logSink`. No state is shared between calls. */
export function createProxyMetrics({
  logSink,
}: { readonly logSink?: Pick<LogSink, "droppedLines"> } = {}): ProxyMetrics {
  const set = createMetricSet(proxyMetrics);
  const refreshers: (() => void)[] = [];
  const refresh = (): void => {
    for (const one of refreshers) one();
    if (logSink !== undefined) set.logLinesDropped.with({}).value = logSink.droppedLines();
  };
  const byListener = new Map<string, Map<string, RouteCounters>>();
  return {
    ...set,
    requestMetrics(listener, route) {
      let routes = byListener.get(listener);
      if (routes === undefined) byListener.set(listener, (routes = new Map()));
      let counters = routes.get(route);
      if (counters === undefined) routes.set(route, (counters = new RouteCounters(set, listener, route)));
      return counters;
    },
    retainRoutes(isServed) {
      const isUnserved = (route: string): boolean => route !== "" && !isServed(route);
      for (const routes of byListener.values()) {
        for (const [routeId, counters] of routes) {
          if (!isUnserved(routeId)) continue;
          counters.detach();
          routes.delete(routeId);
        }
      }
      for (const family of routeFamilies(set)) family.remove(({ route }) => isUnserved(route));
    },
    beforeExport: (one) => void refreshers.push(one),
    export() {
      refresh();
      return exportMetrics(set);
    },
    expose(...others) {
      refresh();
      return exposeMetrics(set, ...others);
    },
  };
}

/**
 * The maximum number of pairs of method and status per (listener, route). Methods and statuses come from clients and
 * upstreams; further pairs are counted under the method `OTHER`.
 */
const maxPairs = 256;

const methodIndexes: ReadonlyMap<string, number> = new Map(
  registeredMethods.map((method, index) => [method, index + 1]),
);

/** The series of one (listener, route), indexed by a small number computed from method and status. */
class RouteCounters implements RequestMetrics {
  private set: MetricSet<typeof proxyMetrics> | undefined;
  private readonly listener: string;
  private readonly route: string;
  private readonly byPair = new Map<number, Counter>();
  private duration: Histogram | undefined;
  private received: Counter | undefined;
  private sent: Counter | undefined;
  private firstByte: Histogram | undefined;
  private connect: Histogram | undefined;
  private lastPair = -1;
  private lastCounter: Counter | undefined;

  constructor(set: MetricSet<typeof proxyMetrics>, listener: string, route: string) {
    this.set = set;
    this.listener = listener;
    this.route = route;
  }

  count(method: string, status: number): void {
    const pair = (methodIndexes.get(method) ?? 0) * 1000 + status;
    if (pair !== this.lastPair || this.lastCounter === undefined) {
      this.lastCounter = this.byPair.get(pair) ?? this.addPair(pair, status);
      this.lastPair = pair;
    }
    this.lastCounter.value += 1;
  }

  observe(seconds: number): void {
    this.duration ??= this.set?.requestDuration.with({ listener: this.listener, route: this.route });
    this.duration?.observe(seconds);
  }

  transferred(receivedBytes: number, sentBytes: number): void {
    // Most routes get no bodies, and then have no series for them.
    if (receivedBytes > 0) {
      this.received ??= this.set?.requestBytes.with({ listener: this.listener, route: this.route });
      this.received?.inc(receivedBytes);
    }
    if (sentBytes > 0) {
      this.sent ??= this.set?.responseBytes.with({ listener: this.listener, route: this.route });
      this.sent?.inc(sentBytes);
    }
  }

  responded(seconds: number): void {
    this.firstByte ??= this.set?.upstreamFirstByte.with({ listener: this.listener, route: this.route });
    this.firstByte?.observe(seconds);
  }

  connected(seconds: number): void {
    this.connect ??= this.set?.upstreamConnect.with({ listener: this.listener, route: this.route });
    this.connect?.observe(seconds);
  }

  /** Called when the route was removed: requests in progress must not create its series again. */
  detach(): void {
    this.set = undefined;
  }

  private addPair(pair: number, status: number): Counter {
    if (this.set === undefined) return new Counter();
    const index = this.byPair.size < maxPairs ? Math.floor(pair / 1000) : 0;
    const counter = this.set.requests.with({
      listener: this.listener,
      route: this.route,
      method: registeredMethods[index - 1] ?? "OTHER",
      status_code: String(status),
    });
    if (this.byPair.size < maxPairs) this.byPair.set(pair, counter);
    return counter;
  }
}

type RouteFamily = { remove(matches: (labels: { readonly route: string }) => boolean): void };

/** The families that have a `route` label. */
function routeFamilies(set: MetricSet<typeof proxyMetrics>): readonly RouteFamily[] {
  return Object.values(set).filter(
    ({ declaration }) => "route" in declaration.labels,
  ) as unknown as RouteFamily[];
}
