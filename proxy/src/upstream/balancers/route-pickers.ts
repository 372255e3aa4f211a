import type { RequestBalancing, UpstreamEndpoint } from "../upstream.ts";
import type { Balancer, Picker } from "./balancer.ts";
import { createBalancer } from "./create-balancer.ts";
import { createRendezvousChooser } from "./rendezvous.ts";
import { createSubsetPicker } from "./subset.ts";

type StatefulAlgorithm = Exclude<RequestBalancing["algorithm"], "hash">;

/**
 * The pickers of one upstream for routes with a balancing of their own. They are shared by all routes with equal settings,
 * created when a request first wants them: one for each algorithm.
 */
export class RoutePickers {
  private readonly random: () => number;
  /** Kept over changes of endpoints, so that turns go on. */
  private readonly balancers = new Map<StatefulAlgorithm, Balancer>();
  private readonly pickers = new Map<StatefulAlgorithm, Picker>();
  private hash: Picker | undefined = undefined;
  private subset: Picker | undefined = undefined;
  private endpoints: readonly UpstreamEndpoint[] = [];
  /** Whether a picker goes, or once went, by the load or latency of endpoints, which then must be watched. */
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

/** Requests without a key are those of one key, the empty one. */
function hashPicker(endpoints: readonly UpstreamEndpoint[]): Picker {
  const choose = createRendezvousChooser(endpoints);
  return { pick: ({ hashKey = "" }, excluded) => choose(hashKey, excluded) };
}
