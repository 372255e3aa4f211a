import { promises as dns } from "node:dns";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";

/** A record with its time to live. */
export type AddressRecord = { readonly address: string; readonly ttl: number };

/** The source of addresses; replaced in tests. */
export type NameService = {
  resolve4(name: string): Promise<readonly AddressRecord[]>;
  resolve6(name: string): Promise<readonly AddressRecord[]>;
  /** The system's resolver (hosts file, search list), without a time to live. */
  lookup(name: string): Promise<readonly string[]>;
};

export type Addresses = readonly string[];

/**
 * Addresses of endpoints that are DNS names (docs/features/upstream.md, "Endpoints by name"). An answer is kept for its
 * time to live, from `minTtlMs` to `maxTtlMs`; equal queries at the same time are sent once.
 */
export type Resolver = {
  /** Calls `done` at once when the answer is cached. */
  resolve(name: string, done: (addresses: Result<Addresses, "unresolved">) => void): void;
  /** The last known addresses, fresh or not; an expired answer is refreshed meanwhile. */
  lastKnown(name: string): Addresses | undefined;
};

const minTtlMs = 5_000;
const maxTtlMs = 60_000;
const maxNames = 1024;

type Waiter = (addresses: Result<Addresses, "unresolved">) => void;
type Entry = { addresses: Addresses; expiresAtMs: number; waiting: Waiter[] | undefined };
type Answer = { readonly addresses: Addresses; readonly ttlMs: number };

export function createResolver(
  options: { readonly names?: NameService; readonly now?: () => number } = {},
): Resolver {
  const names = options.names ?? systemNames();
  const now = options.now ?? (() => performance.now());
  /** Least recently used first. */
  const entries = new Map<string, Entry>();

  const entryOf = (name: string): Entry => {
    const known = entries.get(name);
    const entry = known ?? { addresses: [], expiresAtMs: 0, waiting: undefined };
    if (known !== undefined) entries.delete(name);
    entries.set(name, entry);
    if (entries.size > maxNames) {
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    }
    return entry;
  };

  const ask = (name: string, entry: Entry): Waiter[] => {
    const waiting: Waiter[] = [];
    entry.waiting = waiting;
    const settle = (answer: Answer): void => {
      entry.waiting = undefined;
      entry.addresses = answer.addresses;
      entry.expiresAtMs = now() + answer.ttlMs;
      const result: Result<Addresses, "unresolved"> =
        answer.addresses.length === 0 ? fail("unresolved") : ok(answer.addresses);
      for (const waiter of waiting) waiter(result);
    };
    query(names, name).then(settle, () => settle({ addresses: [], ttlMs: 0 }));
    return waiting;
  };

  return {
    resolve(name, done) {
      const entry = entryOf(name);
      if (entry.addresses.length > 0 && now() < entry.expiresAtMs) done(ok(entry.addresses));
      else (entry.waiting ?? ask(name, entry)).push(done);
    },
    lastKnown(name) {
      const entry = entries.get(name);
      if (entry === undefined || entry.addresses.length === 0) return undefined;
      if (entry.waiting === undefined && now() >= entry.expiresAtMs) ask(name, entry);
      return entry.addresses;
    },
  };
}

/** Queries both families, IPv4 first; names that DNS does not have go through the system's lookup. */
async function query(names: NameService, name: string): Promise<Answer> {
  if (!isLocalName(name)) {
    const [v4, v6] = await Promise.allSettled([names.resolve4(name), names.resolve6(name)]);
    const records = [...valueOf(v4), ...valueOf(v6)];
    if (records.length > 0) {
      const ttlMs = Math.min(...records.map((record) => record.ttl * 1000));
      return {
        addresses: records.map((record) => record.address),
        ttlMs: Math.min(maxTtlMs, Math.max(minTtlMs, ttlMs)),
      };
    }
  }
  return { addresses: await names.lookup(name), ttlMs: minTtlMs };
}

const valueOf = (result: PromiseSettledResult<readonly AddressRecord[]>): readonly AddressRecord[] =>
  result.status === "fulfilled" ? result.value : [];

/** Never sent to a name server (RFC 6761 6.3). */
const isLocalName = (name: string): boolean => /(?:^|\.)localhost\.?$/i.test(name);

function systemNames(): NameService {
  const resolver = new dns.Resolver({ timeout: 1000, tries: 2 });
  return {
    resolve4: (name) => resolver.resolve4(name, { ttl: true }),
    resolve6: (name) => resolver.resolve6(name, { ttl: true }),
    async lookup(name) {
      const found = await dns.lookup(name, { all: true, order: "ipv4first" });
      return found.map(({ address }) => address);
    },
  };
}
