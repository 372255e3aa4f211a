import type { CircuitBreaker as Settings } from "@svc-gateway/common/features/backend-policy.ts";
import type { ProxyMetrics } from "../../telemetry/metrics.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import { CircuitBreaker, type BreakerState, type Passage } from "./circuit-breaker.ts";
import { breakerKey, splitKey, type BreakerSlot, type BreakerTable, type SplitKey } from "./breaker-table.ts";

export type BreakerEnvironment = {
  readonly table: BreakerTable;
  /** Returns milliseconds of a clock that all workers of the pod share. */
  readonly nowMs: () => number;
  readonly metrics: Pick<
    ProxyMetrics,
    "circuitBreakerState" | "circuitBreakerRejected" | "circuitBreakerTransitions"
  >;
};

const gaugeValues: Readonly<Record<BreakerState, number>> = { closed: 0, open: 1, half_open: 2 };

/** The circuit breakers of one upstream, one for each route and endpoint, created when a request first needs them. */
export class UpstreamBreakers {
  private settings: Settings;
  private readonly environment: BreakerEnvironment;
  private readonly byRoute = new Map<string, RouteBreakers>();

  constructor(settings: Settings, environment: BreakerEnvironment) {
    this.settings = settings;
    this.environment = environment;
  }

  of(routeId: string): RouteBreakers {
    const known = this.byRoute.get(routeId);
    if (known !== undefined) return known;
    const breakers = new RouteBreakers(routeId, this.settings, this.environment);
    this.byRoute.set(routeId, breakers);
    return breakers;
  }

  /** Replaces the settings; states are kept. */
  configure(settings: Settings): void {
    this.settings = settings;
    for (const breakers of this.byRoute.values()) breakers.configure(settings);
  }

  /** Removes the breakers of routes that are no longer served. Those of listener filters, without a route, are kept. */
  retainRoutes(isServed: (routeId: string) => boolean): void {
    for (const [routeId, breakers] of this.byRoute) {
      if (routeId === "" || isServed(routeId)) continue;
      breakers.detach();
      this.byRoute.delete(routeId);
    }
  }

  /** Updates the gauges of the states, which other workers change too. */
  refreshGauges(): void {
    for (const breakers of this.byRoute.values()) breakers.refreshGauges();
  }

  /** Removes the breakers of endpoints that are not in the set. */
  retain(endpoints: ReadonlySet<UpstreamEndpoint>): void {
    for (const breakers of this.byRoute.values()) breakers.retain(endpoints);
  }
}

/** The circuit breakers of one route towards one upstream. */
export class RouteBreakers {
  private readonly routeId: string;
  private settings: Settings;
  private readonly environment: BreakerEnvironment;
  private readonly byEndpoint = new Map<UpstreamEndpoint, EndpointBreaker>();

  constructor(routeId: string, settings: Settings, environment: BreakerEnvironment) {
    this.routeId = routeId;
    this.settings = settings;
    this.environment = environment;
  }

  /** Returns the permission to send a request to the endpoint; undefined, and counted, if its breaker rejects it. */
  admit(endpoint: UpstreamEndpoint): Admission | undefined {
    let breaker = this.byEndpoint.get(endpoint);
    if (breaker === undefined) {
      breaker = new EndpointBreaker(this.routeId, endpoint.address, this.settings, this.environment);
      this.byEndpoint.set(endpoint, breaker);
    }
    return breaker.admit();
  }

  configure(settings: Settings): void {
    this.settings = settings;
    for (const breaker of this.byEndpoint.values()) breaker.configure(settings);
  }

  /** Adds the endpoints whose breakers would reject a request now. */
  addClosedOff(to: Set<UpstreamEndpoint>): void {
    for (const [endpoint, breaker] of this.byEndpoint) if (!breaker.mayAdmit()) to.add(endpoint);
  }

  refreshGauges(): void {
    for (const breaker of this.byEndpoint.values()) breaker.refreshGauge();
  }

  /** Detaches the breakers from their metrics, so that requests in flight do not create removed series again. */
  detach(): void {
    for (const breaker of this.byEndpoint.values()) breaker.detach();
  }

  /** Removes the breakers of endpoints that are not in the set, and their metric series. */
  retain(endpoints: ReadonlySet<UpstreamEndpoint>): void {
    const removed = new Set<string>();
    for (const [endpoint, breaker] of this.byEndpoint) {
      if (endpoints.has(endpoint)) continue;
      this.byEndpoint.delete(endpoint);
      breaker.detach();
      removed.add(endpoint.address);
    }
    if (removed.size === 0) return;
    const { circuitBreakerState, circuitBreakerRejected, circuitBreakerTransitions } =
      this.environment.metrics;
    for (const family of [circuitBreakerState, circuitBreakerRejected, circuitBreakerTransitions]) {
      family.remove(({ route, upstream }) => route === this.routeId && removed.has(upstream));
    }
  }
}

/** The permission to send one request to an endpoint. It also receives the outcome of that request. */
export class Admission {
  private readonly breaker: EndpointBreaker;
  private readonly passage: Passage | undefined;

  constructor(breaker: EndpointBreaker, passage: Passage | undefined) {
    this.breaker = breaker;
    this.passage = passage;
  }

  report(verdict: Verdict): void {
    if (this.passage !== undefined) this.breaker.report(this.passage, verdict);
  }
}

/** `none`: the request ended without a verdict about the endpoint. */
export type Verdict = "succeeded" | "failed" | "failedLate" | "none";

/** One worker's access to the breaker of a route and endpoint, whose state is in the table that all workers share. */
class EndpointBreaker {
  private readonly labels: { readonly route: string; readonly upstream: string };
  private settings: Settings;
  private readonly environment: BreakerEnvironment;
  private readonly key: bigint;
  private readonly split: SplitKey;
  private slot: BreakerSlot | undefined = undefined;
  private breaker: CircuitBreaker | undefined = undefined;
  private isDetached = false;

  constructor(route: string, upstream: string, settings: Settings, environment: BreakerEnvironment) {
    this.labels = { route, upstream };
    this.settings = settings;
    this.environment = environment;
    this.key = breakerKey(route, upstream);
    this.split = splitKey(this.key);
  }

  /** Returns undefined for a rejected request. If the table is full, every request is admitted and none is counted. */
  admit(): Admission | undefined {
    const nowMs = this.environment.nowMs();
    const breaker = this.attached(nowMs);
    const passage = breaker?.admit(nowMs);
    if (breaker === undefined || passage !== undefined) return new Admission(this, passage);
    this.environment.metrics.circuitBreakerRejected.with(this.labels).inc();
    return undefined;
  }

  configure(settings: Settings): void {
    this.settings = settings;
    this.slot = undefined;
  }

  mayAdmit(): boolean {
    const nowMs = this.environment.nowMs();
    return this.attached(nowMs)?.mayAdmit(nowMs) ?? true;
  }

  report(passage: Passage, verdict: Verdict): void {
    const { breaker, slot } = this;
    // The slot belongs to another key by now.
    if (breaker === undefined || slot?.holds(this.split) !== true) return;
    if (verdict === "none") breaker.withdrawn(passage);
    else breaker[verdict](passage, this.environment.nowMs());
  }

  refreshGauge(): void {
    const state = this.attached(this.environment.nowMs())?.state ?? "closed";
    this.environment.metrics.circuitBreakerState.with(this.labels).set(gaugeValues[state]);
  }

  detach(): void {
    this.isDetached = true;
  }

  private attached(nowMs: number): CircuitBreaker | undefined {
    if (this.slot?.holds(this.split) === true) return this.breaker;
    this.slot = this.environment.table.slotOf(this.key, nowMs);
    this.breaker = this.slot && new CircuitBreaker(this.slot, this.settings, (to) => this.onChange(to));
    return this.breaker;
  }

  private onChange(to: BreakerState): void {
    if (!this.isDetached)
      this.environment.metrics.circuitBreakerTransitions.with({ ...this.labels, to }).inc();
  }
}
