import type { RequestBalancing, UpstreamEndpoint } from "../upstream.ts";
import type { Balancer, Picker } from "./balancer.ts";
import { createBalancer } from "./create-balancer.ts";
import { createRendezvousChooser } from "./rendezvous.ts";
import { createSubsetPicker } from "./subset.ts";

type StatefulAlgorithm = Exclude<RequestBalancing["algorithm"], "hash">;

/**
 * The pickers of one upstream for routes with their own balancing, one for each algorithm. A picker is created when a
 * request first needs it, and shared by all routes with the same algorithm.
 */
export class RoutePickers {
  private readonly random: () => number;
  /** Kept when endpoints change, so that turns continue. */
  private readonly balancers = new Map<StatefulAlgorithm, Balancer>();
  private readonly pickers = new Map<StatefulAlgorithm, Picker>();
  private hash: Picker | undefined = undefined;
  private subset: Picker | undefined = undefined;
  private endpoints: readonly UpstreamEndpoint[] = [];
  /** Whether any picker uses the load or latency of endpoints, which must then be recorded. Never reset. */
  needsLoad = false;

  constructor(random: () => number) {
    this.random = random;
  }

  update(endpoints: readonly UpstreamEndpoint[]): void {
    this.endpoints = endpoints;
    this.hash = undefined;
    this.subset = undefined;
    for (const [algorithm, balancer] of this.balancers) {
      this.pickers.set(algorithm, balancer.update(endpoints));
    }
  }

  of(balancing: RequestBalancing): Picker {
    if (balancing.algorithm !== "hash") {
      return this.pickers.get(balancing.algorithm) ?? this.add(balancing.algorithm);
    }
    if (balancing.subset === undefined) return (this.hash ??= hashPicker(this.endpoints));
    return (this.subset ??= createSubsetPicker(this.endpoints, this.random));
  }

  private add(algorithm: StatefulAlgorithm): Picker {
    const balancer = createBalancer({ algorithm }, this.random);
    const picker = balancer.update(this.endpoints);
    this.balancers.set(algorithm, balancer);
    this.pickers.set(algorithm, picker);
    this.needsLoad ||= algorithm !== "round_robin";
    return picker;
  }
}

/** Picks by the hash key of a request. Requests without one share the empty key. */
function hashPicker(endpoints: readonly UpstreamEndpoint[]): Picker {
  const choose = createRendezvousChooser(endpoints);
  return { pick: ({ hashKey = "" }, excluded) => choose(hashKey, excluded) };
}
