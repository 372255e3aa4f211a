import type { RequestBalancing, UpstreamEndpoint } from "../upstream.ts";
import type { Picker } from "./balancer.ts";
import { keyScores } from "./rendezvous.ts";

/** More than the endpoints of any set, so that a score and an index fit into one number (2^32 · 2^20 < 2^53). */
const indexes = 1 << 20;

/**
 * Any one of as many endpoints as the balancing of the request says: those that rendezvous hashing ranks first for its key.
 * An endpoint that comes or goes changes one place of the subsets that it belongs to, and no other. Where all of a subset are
 * excluded, the next one in rank serves. `random` gives a number from 0 to 1, 1 excluded.
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
