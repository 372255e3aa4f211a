import { lookup } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import { formatEndpoint, type Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";

/** Resolves a name to its addresses; replaceable in tests. */
export type LookupHost = (host: string) => Promise<readonly string[]>;

const lookupTimeoutMs = 5_000;
/** More than the replicas of any installation; the answer of a resolver must not cause unbounded work. */
export const maxAddresses = 32;

/** Returns all addresses of a host, from the system's resolver. */
export const systemLookup: LookupHost = async (host) =>
  (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);

/**
 * Resolves an endpoint to the addresses of all its replicas, in random order to spread proxies over them. The name of a
 * headless Service has one address per ready pod.
 */
export async function resolveEndpoint(
  { host, port }: Endpoint,
  lookupHost: LookupHost,
  random: () => number,
): Promise<Result<readonly Endpoint[]>> {
  if (isIP(host) !== 0) return ok([{ host, port }]);
  let cancel = (): void => {};
  const timeout = new Promise<never>((_, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`no answer within ${lookupTimeoutMs / 1000} s`)),
      lookupTimeoutMs,
    );
    cancel = () => clearTimeout(timer);
  });
  try {
    const addresses = await Promise.race([lookupHost(host), timeout]);
    const unique = [...new Set(addresses)].slice(0, maxAddresses);
    if (unique.length === 0) return problem(`${host} has no address`);
    return ok(shuffled(unique, random).map((address) => ({ host: address, port })));
  } catch (error) {
    return problem(`${host} cannot be resolved: ${textOf(error)}`);
  } finally {
    cancel();
  }
}

/** Formats the address as a gRPC target that needs no resolver. */
export const grpcTarget = (address: Endpoint): string =>
  `${isIPv6(address.host) ? "ipv6" : "ipv4"}:${formatEndpoint(address)}`;

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as Item, result[last] as Item];
  }
  return result;
}
