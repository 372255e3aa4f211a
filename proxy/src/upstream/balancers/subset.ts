import type { RequestBalancing, UpstreamEndpoint } from "../upstream.ts";
import type { Picker } from "./balancer.ts";
import { keyScores } from "./rendezvous.ts";

/** A bound on the endpoints of a set, so that a score and an index fit into one number (2^32 · 2^20 < 2^53). */
const indexes = 1 << 20;

/**
 * Picks at random from a subset of the endpoints: those that rendezvous hashing ranks first for the key of the request.
 * The balancing of the request sets the size of the subset. An added or removed endpoint changes one member of the
 * subsets that it belongs to. If the whole subset is excluded, the next endpoint in rank is picked. `random` returns a
 * number from 0 to 1, 1 excluded.
 */
export function createSubsetPicker(endpoints: readonly UpstreamEndpoint[], random: () => number): Picker {
  const scoresOf = keyScores(endpoints);
  const ranks = new Float64Array(endpoints.length);
  return {
    pick({ hashKey = "", balancing }, excluded) {
      const size = sizeOf(balancing);
      const scores = scoresOf(hashKey);
      for (let i = 0; i < ranks.length; i++) ranks[i] = (scores[i] as number) * indexes + i;
      ranks.sort();
      const usable: UpstreamEndpoint[] = [];
      for (let rank = 1; rank <= ranks.length && (rank <= size || usable.length === 0); rank++) {
        const value = ranks[ranks.length - rank] as number;
        const endpoint = endpoints[value - Math.floor(value / indexes) * indexes] as UpstreamEndpoint;
        if (excluded?.has(endpoint) !== true) usable.push(endpoint);
      }
      return usable[Math.floor(random() * usable.length)];
    },
  };
}

const sizeOf = (balancing: RequestBalancing | undefined): number =>
  balancing?.algorithm === "hash" ? (balancing.subset ?? 1) : 1;
