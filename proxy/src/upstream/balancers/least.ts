import { loadOf, type EndpointLoad } from "../endpoint-load.ts";
import type { UpstreamEndpoint } from "../upstream.ts";
import type { Balancer } from "./balancer.ts";

/** Scores an endpoint by its requests in flight. */
export const connectionScore = ({ inFlight }: EndpointLoad): number => inFlight;

/**
 * Scores an endpoint by the product of its average latency and load. An endpoint without a sample comes first, but only
 * for one request: until the response arrives, it comes last.
 */
export function latencyScore({ inFlight, latencyMs }: EndpointLoad): number {
  if (latencyMs === undefined) return inFlight === 0 ? -1 : unproven * inFlight;
  return latencyMs * (inFlight + 1);
}

/** A score above all measured ones. */
const unproven = 1e15;

/**
 * Picks the endpoint with the lowest score, and among equal scores the next in turn. `random` (0 to 1, 1 excluded) sets
 * the start of the first turn, so that many workers do not start with the same endpoint.
 */
export function createLeastBalancer(scoreOf: (load: EndpointLoad) => number, random: () => number): Balancer {
  let turn = random();
  return {
    update(endpoints) {
      const loads = endpoints.map(loadOf);
      let next = Math.floor(turn * endpoints.length);
      return {
        pick(_request, excluded) {
          let best = -1;
          let bestScore = Number.POSITIVE_INFINITY;
          for (let i = 0; i < loads.length; i++) {
            const index = next + i < loads.length ? next + i : next + i - loads.length;
            const score = scoreOf(loads[index] as EndpointLoad);
            if (score >= bestScore) continue;
            if (excluded?.has(endpoints[index] as UpstreamEndpoint) === true) continue;
            best = index;
            bestScore = score;
          }
          if (best < 0) return undefined;
          next = best + 1 < loads.length ? best + 1 : 0;
          turn = next / loads.length;
          return endpoints[best];
        },
      };
    },
  };
}
