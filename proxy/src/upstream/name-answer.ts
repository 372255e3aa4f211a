import { type AddressRecord, isDenial, type NameService } from "./name-service.ts";

/** The last answer about addresses of one kind. Times are milliseconds of the resolver's clock. */
type Part = { readonly addresses: readonly string[]; readonly answeredMs: number };

/** What is known of a name after a query (docs/features/upstream.md, "Endpoints by name"). */
export type NameAnswer = {
  /** IPv4 first. */
  readonly addresses: readonly string[];
  readonly ttlMs: number;
  /** The addresses may be used until then where no later answer comes. */
  readonly usableUntilMs: number;
  /** A query failed, so that some of it is not known, or older than its time to live. */
  readonly hasFailed: boolean;
  readonly v4: Part;
  readonly v6: Part;
  readonly system: Part;
};

const minTtlMs = 5_000;
const maxTtlMs = 60_000;
/** For how long it is remembered that a name has no address. */
const negativeTtlMs = 1_000;
/** For how long addresses are used while name servers fail (RFC 8767). */
const maxStaleMs = 3_600_000;
/** The most addresses of each kind that are used: a connect divides its time among them. */
const maxAddresses = 16;

const noPart: Part = { addresses: [], answeredMs: Number.NEGATIVE_INFINITY };

/** Nothing is known of the name. */
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
 * Queries both families; a name that DNS does not have is looked up by the system. Where a query fails without an answer,
 * `last` stays valid in that part, until `maxStaleMs` after it was given.
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

/** Puts the parts of an answer together. */
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

/** Never sent to a name server (RFC 6761 6.3). */
const isLocalName = (name: string): boolean => /(?:^|\.)localhost\.?$/i.test(name);
