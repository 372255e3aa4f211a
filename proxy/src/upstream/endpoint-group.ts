import { isIPv6 } from "node:net";
import type { EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { RetryBudget } from "./retry-budget.ts";
import type { UpstreamTls } from "./tls/upstream-tls.ts";
import type { ConnectionLimits, Upstream, UpstreamEndpoint } from "./upstream.ts";
import { compileBalancing } from "../routing/compile-balancing.ts";
import { UpstreamView, type ViewEnvironment, type ViewSettings } from "./upstream-view.ts";

type Protocol = Upstream["protocol"];
type View = { readonly protocol: Protocol; readonly view: UpstreamView; upstream: Upstream };

const noViews: readonly View[] = [];

/** The parts of an endpoint set that do not change. */
export type SetIdentity = {
  readonly name: string;
  readonly service: string;
  readonly retryBudget: RetryBudget;
  /** Shared by all endpoints of the set, including those added later. */
  readonly limits: ConnectionLimits;
};

/**
 * The endpoints of a set for one client certificate (or none), and their upstreams by protocol. An endpoint remains the
 * same object while its address, port and TLS settings do not change.
 */
export class EndpointGroup {
  /** The Gateway whose certificate is presented to backends; empty for none. */
  readonly certificate: string;
  endpoints: readonly UpstreamEndpoint[] = [];
  private readonly identity: SetIdentity;
  private readonly environment: ViewEnvironment;
  /** One per protocol that has been requested. */
  private views = noViews;
  private set: Pick<EndpointSet, "policy" | "balancing"> = {};
  /** Returns the upstream of requests received without TLS; undefined if they use the same one as all others. */
  private cleartext: ((protocol: Protocol) => Upstream) | undefined = undefined;

  constructor(identity: SetIdentity, environment: ViewEnvironment, certificate = "") {
    this.certificate = certificate;
    this.identity = identity;
    this.environment = environment;
  }

  /** Applies the addresses, policy and TLS settings of the set. Returns the removed endpoints. */
  update(
    { addresses, policy, balancing }: EndpointSet,
    tls: UpstreamTls | undefined,
    cleartext?: (protocol: Protocol) => Upstream,
  ): readonly UpstreamEndpoint[] {
    const { limits } = this.identity;
    const known = new Map(this.endpoints.map((endpoint) => [endpoint.address, endpoint]));
    const present = new Map<string, UpstreamEndpoint>();
    for (const { host, port } of addresses) {
      const address = addressText(host, port);
      const kept = known.get(address);
      present.set(address, kept?.tls === tls && kept ? kept : { host, port, address, limits, tls });
    }
    const removed = this.endpoints.filter((endpoint) => present.get(endpoint.address) !== endpoint);
    this.endpoints = [...present.values()];
    this.set = { policy, balancing };
    this.cleartext = cleartext;
    for (const kept of this.views) {
      kept.upstream = kept.view.update(this.endpoints, this.settings(kept.protocol));
    }
    return removed;
  }

  upstream(protocol: Protocol): Upstream {
    const known = this.views.find((view) => view.protocol === protocol);
    if (known !== undefined) return known.upstream;
    const { name: key, service, retryBudget } = this.identity;
    const view = new UpstreamView({ key, service, protocol, retryBudget }, this.environment);
    const upstream = view.update(this.endpoints, this.settings(protocol));
    this.views = [...this.views, { protocol, view, upstream }];
    return upstream;
  }

  private settings(protocol: Protocol): ViewSettings {
    const { cleartext } = this;
    const { policy, balancing } = this.set;
    return {
      policy,
      balancing: balancing && compileBalancing(balancing),
      cleartext: cleartext && (() => cleartext(protocol)),
    };
  }

  retainRoutes(isServed: (routeId: string) => boolean): void {
    for (const { view } of this.views) view.retainRoutes(isServed);
  }

  refreshGauges(): void {
    for (const { view } of this.views) view.refreshGauges();
  }

  /** Drops the circuit breakers of the endpoints, because the group has been removed. */
  close(): void {
    for (const { view } of this.views) view.close();
  }
}

const addressText = (host: string, port: number): string =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
