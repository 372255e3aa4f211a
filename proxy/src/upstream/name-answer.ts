import { type AddressRecord, isDenial, type NameService } from "./name-service.ts";

/** The last answer of one source (IPv4, IPv6 or the system). Times are milliseconds of the resolver's clock. */
type Part = { readonly addresses: readonly string[]; readonly answeredMs: number };

/** The state of a name after a query (docs/features/upstream.md, "Endpoints by name"). */
export type NameAnswer = {
  /** IPv4 first. */
  readonly addresses: readonly string[];
  readonly ttlMs: number;
  /** The time until which the addresses can be used if no later answer arrives. */
  readonly usableUntilMs: number;
  /** Whether a query failed, so that some addresses are unknown or older than their time to live. */
  readonly hasFailed: boolean;
  readonly v4: Part;
  readonly v6: Part;
  readonly system: Part;
};

const minTtlMs = 5_000;
const maxTtlMs = 60_000;
/** How long the absence of addresses is cached. */
const negativeTtlMs = 1_000;
/** How long addresses are used while name servers fail (RFC 8767). */
const maxStaleMs = 3_600_000;
/** The most addresses that are used of each source, because a connect divides its time among them. */
const maxAddresses = 16;

const noPart: Part = { addresses: [], answeredMs: Number.NEGATIVE_INFINITY };

/** The state of a name before its first query. */
export const unknownName: NameAnswer = {
  addresses: [],
  ttlMs: 0,
  usableUntilMs: Number.NEGATIVE_INFINITY,
  hasFailed: true,
  v4: noPart,
  v6: noPart,
  system: noPart,
};

/**
 * Queries both address families, and then the system's resolver if they yield no address. If a query fails without an
 * answer, its part of `last` is kept until `maxStaleMs` after that part was received.
 */
export async function queryName(
  names: NameService,
  name: string,
  last: NameAnswer,
  now: () => number,
): Promise<NameAnswer> {
  const collector = new Collector(now);
  if (isLocalName(name)) {
    const [looked] = await Promise.allSettled([lookUp(names, name)]);
    return collector.answer({ v4: noPart, v6: noPart, system: collector.add(looked, last.system) });
  }
  const [given4, given6] = await Promise.allSettled([names.resolve4(name), names.resolve6(name)]);
  const v4 = collector.add(given4, last.v4);
  const v6 = collector.add(given6, last.v6);
  if (v4.addresses.length + v6.addresses.length > 0) return collector.answer({ v4, v6, system: noPart });
  const [looked] = await Promise.allSettled([lookUp(names, name)]);
  return collector.answer({ v4, v6, system: collector.add(looked, last.system) });
}

/** Assembles an answer from its parts. */
class Collector {
  private readonly now: () => number;
  private ttlMs = maxTtlMs;
  private hasFailed = false;

  constructor(now: () => number) {
    this.now = now;
  }

  add(result: PromiseSettledResult<readonly AddressRecord[]>, last: Part): Part {
    const answeredMs = this.now();
    if (result.status === "fulfilled") {
      const records = result.value.slice(0, maxAddresses);
      for (const { ttl } of records) this.ttlMs = Math.min(this.ttlMs, ttl * 1000);
      return { addresses: records.map(({ address }) => address), answeredMs };
    }
    if (isDenial(result.reason)) return noPart;
    this.hasFailed = true;
    return answeredMs - last.answeredMs < maxStaleMs ? last : noPart;
  }

  answer(parts: Pick<NameAnswer, "v4" | "v6" | "system">): NameAnswer {
    const { hasFailed } = this;
    const used = [parts.v4, parts.v6, parts.system].filter((part) => part.addresses.length > 0);
    return {
      ...parts,
      addresses: used.flatMap((part) => part.addresses),
      ttlMs: used.length === 0 ? negativeTtlMs : hasFailed ? minTtlMs : Math.max(minTtlMs, this.ttlMs),
      usableUntilMs:
        used.length === 0
          ? Number.NEGATIVE_INFINITY
          : Math.min(...used.map((part) => part.answeredMs + maxStaleMs)),
      hasFailed,
    };
  }
}

async function lookUp(names: NameService, name: string): Promise<readonly AddressRecord[]> {
  return (await names.lookup(name)).map((address) => ({ address, ttl: minTtlMs / 1000 }));
}

/** Reports whether a name is `localhost` or below it. Such names are never sent to a name server (RFC 6761 6.3). */
const isLocalName = (name: string): boolean => /(?:^|\.)localhost\.?$/i.test(name);
