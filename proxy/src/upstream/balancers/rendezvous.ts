import type { PickRequest, UpstreamEndpoint } from "../upstream.ts";
import type { Balancer, Picker } from "./balancer.ts";
import { hashText, mix } from "./text-hash.ts";

/** Returns the text that is hashed for a request; undefined or empty if the request has no key. */
export type KeyOf = (request: PickRequest) => string | undefined;

const scoreSeed = 0x5bd1e995;
const tieSeed = 0x1b873593;

/**
 * Picks by highest random weight (Thaler and Ravishankar, 1998): every endpoint has a score for the key, and the
 * highest score wins. The score depends only on the key and the `ip:port`. Therefore all proxies agree, before and
 * after a restart, and an added or removed endpoint moves only the keys that it gains or loses. Requests without a key
 * go to `otherwise`. See docs/features/load-balancing.md.
 */
export function createRendezvousPicker(
  keyOf: KeyOf,
  endpoints: readonly UpstreamEndpoint[],
  otherwise: Picker,
): Picker {
  const choose = createRendezvousChooser(endpoints);
  return {
    pick(request, excluded) {
      const key = keyOf(request);
      return key === undefined || key === "" ? otherwise.pick(request, excluded) : choose(key, excluded);
    },
  };
}

/** Rendezvous hashing as an algorithm. Its only state is that of `otherwise`, for requests without a key. */
export const createRendezvousBalancer = (keyOf: KeyOf, otherwise: Balancer): Balancer => ({
  update: (endpoints) => createRendezvousPicker(keyOf, endpoints, otherwise.update(endpoints)),
});

type Chooser = (
  key: string,
  excluded: ReadonlySet<UpstreamEndpoint> | undefined,
) => UpstreamEndpoint | undefined;

const hashesOf = (endpoints: readonly UpstreamEndpoint[]): Int32Array =>
  Int32Array.from(endpoints, ({ address }) => hashText(address, scoreSeed));

/**
 * Returns a function that computes the scores of all endpoints for a key, in an array that its next call overwrites.
 */
export function keyScores(endpoints: readonly UpstreamEndpoint[]): (key: string) => Int32Array {
  const hashes = hashesOf(endpoints);
  const scores = new Int32Array(hashes.length);
  return (key) => {
    const hash = hashText(key, scoreSeed);
    for (let i = 0; i < hashes.length; i++) scores[i] = mix(hash ^ (hashes[i] as number));
    return scores;
  };
}

/**
 * Returns a function that picks the endpoint of a key, among those that are not excluded. A call costs one
 * multiplication chain per endpoint; the hashes of endpoints are computed when the endpoints change.
 */
export function createRendezvousChooser(endpoints: readonly UpstreamEndpoint[]): Chooser {
  const hashes = hashesOf(endpoints);
  return (key, excluded) => {
    const hash = hashText(key, scoreSeed);
    let best = -1;
    let bestScore = 0;
    for (let i = 0; i < hashes.length; i++) {
      const score = mix(hash ^ (hashes[i] as number));
      if (best >= 0 && score < bestScore) continue;
      if (excluded?.has(endpoints[i] as UpstreamEndpoint) === true) continue;
      if (best >= 0 && score === bestScore && !winsTie(key, endpoints, i, best)) continue;
      best = i;
      bestScore = score;
    }
    return endpoints[best];
  };
}

/**
 * Reports whether endpoint `a` wins against `b`, which has the same score. Two addresses with the same 32-bit hash have
 * equal scores for every key; without a second hash, one of them would never be picked.
 */
function winsTie(key: string, endpoints: readonly UpstreamEndpoint[], a: number, b: number): boolean {
  const hash = hashText(key, tieSeed);
  const scoreOf = (index: number): number =>
    mix(hash ^ hashText((endpoints[index] as UpstreamEndpoint).address, tieSeed));
  return scoreOf(a) > scoreOf(b);
}
