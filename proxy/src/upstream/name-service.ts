import { promises as dns } from "node:dns";

/** A record with its time to live in seconds. */
export type AddressRecord = { readonly address: string; readonly ttl: number };

/** The source of addresses; replaced in tests. Its methods never throw, but reject with the codes of Node's `dns`. */
export type NameService = {
  resolve4(name: string): Promise<readonly AddressRecord[]>;
  resolve6(name: string): Promise<readonly AddressRecord[]>;
  /** The system's resolver (hosts file, search list), without a time to live. */
  lookup(name: string): Promise<readonly string[]>;
};

/**
 * Creates a name service on the name servers of the system, or on `servers` (`address:port`), and on the system's
 * resolver. A query takes up to three seconds per server.
 */
export function systemNames(servers?: readonly string[]): NameService {
  const resolver = new dns.Resolver({ timeout: 1000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return {
    resolve4: async (name) => resolver.resolve4(name, { ttl: true }),
    resolve6: async (name) => resolver.resolve6(name, { ttl: true }),
    async lookup(name) {
      const found = await dns.lookup(name, { all: true, order: "ipv4first" });
      return found.map(({ address }) => address);
    },
  };
}

/** The error codes that prove that a name has no such address; all others leave that open. */
const denials: ReadonlySet<unknown> = new Set(["ENOTFOUND", "ENODATA"]);

/** Reports whether a query failed because the name has no such address. */
export const isDenial = (reason: unknown): boolean =>
  reason instanceof Error && "code" in reason && denials.has(reason.code);
