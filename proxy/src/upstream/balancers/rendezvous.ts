import type { PickRequest, UpstreamEndpoint } from "../upstream.ts";
import type { Balancer, Picker } from "./balancer.ts";
import { hashText, mix } from "./text-hash.ts";

/** The text of a request that is hashed; undefined or empty: the request has no key. */
export type KeyOf = (request: PickRequest) => string | undefined;

const scoreSeed = 0x5bd1e995;
const tieSeed = 0x1b873593;

/**
 * Highest random weight (Thaler and Ravishankar, 1998): every endpoint gets a score for the key, the highest serves.
 * The score depends on nothing but the key and the `ip:port`, so all proxies agree, before and after a restart, and an
 * added or removed endpoint moves only the keys that it gains or loses. Requests without a key go to `otherwise`. See
 * docs/features/load-balancing.md.
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

/** Rendezvous hashing as an algorithm; its only state is the turn of the requests without a key. */
export const createRendezvousBalancer = (keyOf: KeyOf, otherwise: Balancer): Balancer => ({
  update: (endpoints) => createRendezvousPicker(keyOf, endpoints, otherwise.update(endpoints)),
});

type Chooser = (
  key: string,
  excluded: ReadonlySet<UpstreamEndpoint> | undefined,
) => UpstreamEndpoint | undefined;

const hashesOf = (endpoints: readonly UpstreamEndpoint[]): Int32Array =>
  Int32Array.from(endpoints, ({ address }) => hashText(address, scoreSeed));

/** The scores of all endpoints for a key, in one array that the next key overwrites. */
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
 * The endpoint of a key, among those that are not excluded. Costs one multiplication chain per endpoint and request;
 * everything else is computed when the endpoints change.
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
 * Two addresses with one 32-bit hash have equal scores for every key. A second hash keeps them apart, else one of the two
 * would never serve.
 */
function winsTie(key: string, endpoints: readonly UpstreamEndpoint[], a: number, b: number): boolean {
  const hash = hashText(key, tieSeed);
  const scoreOf = (index: number): number =>
    mix(hash ^ hashText((endpoints[index] as UpstreamEndpoint).address, tieSeed));
  return scoreOf(a) > scoreOf(b);
}
