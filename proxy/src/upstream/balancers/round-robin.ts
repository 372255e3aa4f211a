import type { UpstreamEndpoint } from "../upstream.ts";
import type { Balancer } from "./balancer.ts";

/**
 * Picks every endpoint in turn. The first pick is a random endpoint, so that many workers do not start with the same
 * one. After a change of endpoints, the turn continues with the next one that still exists. `random` returns a number
 * from 0 to 1, 1 excluded.
 */
export function createRoundRobinBalancer(random: () => number): Balancer {
  let endpoints: readonly UpstreamEndpoint[] = [];
  let next = 0;

  const nextAmong = (changed: readonly UpstreamEndpoint[]): number => {
    const indexes = new Map(changed.map((endpoint, index) => [endpoint, index]));
    for (let i = 0; i < endpoints.length; i++) {
      const successor = endpoints[(next + i) % endpoints.length] as UpstreamEndpoint;
      const index = indexes.get(successor);
      if (index !== undefined) return index;
    }
    return Math.floor(random() * changed.length);
  };

  return {
    update(changed) {
      next = nextAmong(changed);
      endpoints = changed;
      return {
        pick(_request, excluded) {
          for (let i = 0; i < endpoints.length; i++) {
            const endpoint = endpoints[next] as UpstreamEndpoint;
            next = next + 1 < endpoints.length ? next + 1 : 0;
            if (excluded === undefined || !excluded.has(endpoint)) return endpoint;
          }
          return undefined;
        },
      };
    },
  };
}
