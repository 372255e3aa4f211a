import { isDeepStrictEqual } from "node:util";
import type { BackendPolicy, CircuitBreaker } from "@svc-gateway/common/features/backend-policy.ts";
import type { Balancer, Picker } from "./balancers/balancer.ts";
import { createBalancer } from "./balancers/create-balancer.ts";
import { createRendezvousPicker } from "./balancers/rendezvous.ts";
import { RoutePickers } from "./balancers/route-pickers.ts";
import { UpstreamBreakers, type BreakerEnvironment } from "./breaker/upstream-breakers.ts";
import { Selector } from "./selector.ts";
import { policyCookie, SessionCookies, type SessionKey } from "./session-cookie.ts";
import type { Upstream, UpstreamEndpoint } from "./upstream.ts";

export type ViewEnvironment = {
  readonly breakers: BreakerEnvironment;
  readonly sessionKey: SessionKey;
  /** Returns a number from 0 to 1, 1 excluded. */
  readonly random: () => number;
};

/** The settings of an endpoint set, without its addresses. */
export type ViewSettings = {
  readonly policy?: BackendPolicy | undefined;
} & Pick<Upstream, "balancing" | "cleartext">;

type Identity = Pick<Upstream, "key" | "service" | "protocol" | "retryBudget">;

/**
 * The state of one upstream that survives changes of its endpoints and its policy. The state of the load-balancing
 * algorithm is kept until the settings of the algorithm change; that of circuit breakers while they are configured.
 */
export class UpstreamView {
  private readonly identity: Identity;
  private readonly environment: ViewEnvironment;
  private policy: BackendPolicy = {};
  private balancer: Balancer;
  private readonly ofRoutes: RoutePickers;
  private breakers: UpstreamBreakers | undefined = undefined;

  constructor(identity: Identity, environment: ViewEnvironment) {
    this.identity = identity;
    this.environment = environment;
    this.balancer = createBalancer(undefined, environment.random);
    this.ofRoutes = new RoutePickers(environment.random);
  }

  /** Applies endpoints and settings. Returns the upstream that replaces the previous one. */
  update(
    endpoints: readonly UpstreamEndpoint[],
    { policy = {}, balancing, cleartext }: ViewSettings = {},
  ): Upstream {
    const { environment } = this;
    if (!isDeepStrictEqual(policy.loadBalancer, this.policy.loadBalancer)) {
      this.balancer = createBalancer(policy.loadBalancer, environment.random);
    }
    this.breakers = this.updateBreakers(policy.circuitBreaker);
    this.breakers?.retain(new Set(endpoints));
    this.policy = policy;
    const { ofRoutes } = this;
    ofRoutes.update(endpoints);
    const ofService = this.balancer.update(endpoints);
    const picker: Picker = {
      pick: (request, excluded) =>
        (request.balancing === undefined ? ofService : ofRoutes.of(request.balancing)).pick(
          request,
          excluded,
        ),
    };
    const usesLoad =
      policy.loadBalancer?.algorithm === "least_conn" || policy.loadBalancer?.algorithm === "ewma";
    const { sessionPersistence: session } = policy;
    const selector = new Selector({
      picker,
      firstPicker:
        session?.type === "header"
          ? createRendezvousPicker(({ received }) => received.joined(session.name), endpoints, picker)
          : picker,
      sessions: new SessionCookies(this.identity.service, environment.sessionKey, endpoints),
      cookie: session?.type === "cookie" ? policyCookie(session.name, session.cookie) : undefined,
      breakers: this.breakers,
      needsLoad: () => usesLoad || ofRoutes.needsLoad,
    });
    return {
      ...this.identity,
      endpoints,
      balancing,
      cleartext,
      pick: (request, tried) => selector.pick(request, tried),
      hasSession: (request) => selector.hasSession(request),
    };
  }

  private updateBreakers(settings: CircuitBreaker | undefined): UpstreamBreakers | undefined {
    const { breakers } = this;
    if (settings === undefined) {
      breakers?.retain(new Set());
      return undefined;
    }
    if (breakers === undefined) return new UpstreamBreakers(settings, this.environment.breakers);
    if (!isDeepStrictEqual(settings, this.policy.circuitBreaker)) breakers.configure(settings);
    return breakers;
  }

  retainRoutes(isServed: (routeId: string) => boolean): void {
    this.breakers?.retainRoutes(isServed);
  }

  refreshGauges(): void {
    this.breakers?.refreshGauges();
  }

  /** Drops the state of a removed upstream. */
  close(): void {
    this.breakers?.retain(new Set());
  }
}
