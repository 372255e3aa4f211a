import type { RouteGroup } from "@svc-gateway/common/ir/keys.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import type {
  BackendRequest,
  CompiledBackend,
  CompiledRoute,
  CompiledUpstream,
  PickBackend,
} from "../exchange/compiled-route.ts";
import type { Filter } from "../exchange/filter.ts";
import { createBackendChoice } from "../routing/backend-choice.ts";
import type { WeightedBackend } from "../routing/backend-picker.ts";
import type { ProxyMetrics, RequestMetrics } from "../telemetry/metrics.ts";
import type { Observer } from "../exchange/observer.ts";
import type { ObserverOf } from "../telemetry/observer.ts";
import { type DemandedRules, demandedRules } from "../tls/client-validation.ts";
import type { CompiledBalancing, Upstream } from "../upstream/upstream.ts";

export type RequestMetricsSource = Pick<ProxyMetrics, "requestMetrics">;

/** A compiled route. A class, because there can be tens of thousands of them. */
export class ServedRoute implements CompiledRoute {
  readonly id: string;
  readonly group: RouteGroup;
  readonly namespace: string;
  readonly pattern: string;
  readonly accessLog: boolean;
  readonly observer: Observer | undefined;
  readonly hasOwnTimeouts: boolean;
  readonly filters: readonly Filter[];
  readonly clients: DemandedRules | undefined;
  readonly affinity: SessionAffinity | undefined;
  /** The only backend, or the choice between several. */
  private readonly backend: CompiledBackend | PickBackend;
  private readonly source: RequestMetricsSource;
  /** The listener of the previous request, and its metrics: most routes are served on one listener. */
  private listener = "";
  private metrics: RequestMetrics | undefined = undefined;

  constructor(
    group: RouteGroup,
    route: Route,
    filters: readonly Filter[],
    backends: readonly WeightedBackend[],
    {
      metrics,
      random,
      observerOf,
    }: {
      readonly metrics: RequestMetricsSource;
      readonly random: () => number;
      readonly observerOf?: ObserverOf | undefined;
    },
  ) {
    this.id = route.id;
    this.group = group;
    this.namespace = route.source.namespace;
    this.pattern = route.match.path.value;
    this.accessLog = route.accessLog !== false;
    this.observer = observerOf?.(route.observation);
    this.hasOwnTimeouts = route.features?.timeouts?.replacesDefaults === true;
    this.filters = filters;
    this.clients = route.clients && demandedRules(route.clients);
    this.source = metrics;
    this.affinity = route.affinity;
    const [only] = backends;
    const { choices = [] } = route;
    this.backend =
      only !== undefined && only.weight > 0 && backends.length === 1 && choices.length === 0
        ? only.backend
        : createBackendChoice(backends, { choices, keepsSessions: route.affinity !== undefined, random });
  }

  metricsOf(listener: string): RequestMetrics {
    if (this.metrics === undefined || listener !== this.listener) {
      this.metrics = this.source.requestMetrics(listener, this.id);
      this.listener = listener;
    }
    return this.metrics;
  }

  pickBackend(request: BackendRequest): CompiledBackend {
    const { backend } = this;
    return typeof backend === "function" ? backend(request) : backend;
  }
}

/** An upstream with the filters of its backend. */
export class ServedUpstream implements CompiledUpstream {
  readonly kind = "upstream";
  readonly filters: readonly Filter[];
  readonly closes: boolean;
  readonly unbound: boolean;
  readonly balancing: CompiledBalancing | undefined;
  readonly whenSecure: CompiledUpstream | undefined;
  private readonly current: () => Upstream;

  constructor(
    current: () => Upstream,
    filters: readonly Filter[],
    options: {
      readonly closes?: boolean | undefined;
      readonly unbound?: boolean | undefined;
      readonly balancing?: CompiledBalancing | undefined;
      readonly whenSecure?: CompiledUpstream | undefined;
    } = {},
  ) {
    this.current = current;
    this.filters = filters;
    this.closes = options.closes === true;
    this.unbound = options.unbound === true;
    this.balancing = options.balancing;
    this.whenSecure = options.whenSecure;
  }

  get upstream(): Upstream {
    return this.current();
  }
}
