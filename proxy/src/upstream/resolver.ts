import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { type NameAnswer, queryName, unknownName } from "./name-answer.ts";
import { type NameService, systemNames } from "./name-service.ts";
import { realNowMs } from "../timing/real-clock.ts";

export type Addresses = readonly string[];

/**
 * Resolves endpoints that are DNS names (docs/features/upstream.md, "Endpoints by name"). An answer is cached for its
 * time to live; while name servers fail or are slow, the last one is used. Concurrent queries for a name share one.
 */
export type Resolver = {
  /** Calls `done` with the addresses of a name, before returning if the answer is cached. */
  resolve(name: string, done: (addresses: Result<Addresses, "unresolved">) => void): void;
  /**
   * Returns the last known addresses: none if the name has none, undefined if they are unknown. If they have expired, a
   * query is started to refresh them.
   */
  lastKnown(name: string): Addresses | undefined;
};

/** Reports whether the address of a connection still belongs to its endpoint, as far as that is known. */
export function isCurrentAddress(resolver: Resolver, host: string, address: string): boolean {
  if (address === host) return true;
  const addresses = resolver.lastKnown(host);
  return addresses === undefined || addresses.includes(address);
}

const maxNames = 1024;
/** How long callers wait for an answer before the last one is used (RFC 8767 5, the client response timer). */
const patienceMs = 1_000;

type Waiter = (addresses: Result<Addresses, "unresolved">) => void;
type Entry = {
  answer: NameAnswer;
  expiresAtMs: number;
  /** The callers that wait for the query under way; undefined if there is none. */
  waiting: Waiter[] | undefined;
  /**
   * Whether the query under way is slow or the last one failed. Callers then do not wait if the last answer is usable.
   */
  isTroubled: boolean;
};

/**
 * The outcome of a query. `answered`: all addresses are from this query. `denied`: the name has no addresses. `failed`:
 * a part of the query failed, and the last addresses of that part are used if they are known and not too old.
 */
export type NameOutcome = "answered" | "denied" | "failed";

export type ResolverOptions = {
  readonly names?: NameService;
  /** Returns milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Called with the outcome of each query. */
  readonly onQuery?: (outcome: NameOutcome) => void;
};

export function createResolver(options: ResolverOptions = {}): Resolver {
  const { names = systemNames(), now = realNowMs, onQuery } = options;
  /** Least recently used first. */
  const entries = new Map<string, Entry>();

  const entryOf = (name: string): Entry => {
    const known = entries.get(name);
    const entry = known ?? {
      answer: unknownName,
      expiresAtMs: Number.NEGATIVE_INFINITY,
      waiting: undefined,
      isTroubled: false,
    };
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
    const timer = setTimeout(() => {
      entry.isTroubled = true;
      if (isUsable(entry, now())) answerAll(waiting, entry.answer);
    }, patienceMs).unref();
    void queryName(names, name, entry.answer, now).then((answer) => {
      clearTimeout(timer);
      onQuery?.(outcomeOf(answer));
      entry.waiting = undefined;
      entry.answer = answer;
      entry.isTroubled = answer.hasFailed;
      entry.expiresAtMs = now() + answer.ttlMs;
      answerAll(waiting, answer);
    });
    return waiting;
  };

  return {
    resolve(name, done) {
      const entry = entryOf(name);
      const nowMs = now();
      if (nowMs < entry.expiresAtMs) return done(resultOf(entry.answer));
      const waiting = entry.waiting ?? ask(name, entry);
      if (entry.isTroubled && isUsable(entry, nowMs)) done(resultOf(entry.answer));
      else waiting.push(done);
    },
    lastKnown(name) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      if (entry.waiting === undefined && now() >= entry.expiresAtMs) ask(name, entry);
      const { addresses, hasFailed } = entry.answer;
      return addresses.length === 0 && hasFailed ? undefined : addresses;
    },
  };
}

const isUsable = ({ answer }: Entry, nowMs: number): boolean => nowMs < answer.usableUntilMs;

function answerAll(waiting: Waiter[], answer: NameAnswer): void {
  const result = resultOf(answer);
  for (const waiter of waiting.splice(0)) waiter(result);
}

const resultOf = ({ addresses }: NameAnswer): Result<Addresses, "unresolved"> =>
  addresses.length === 0 ? fail("unresolved") : ok(addresses);

const outcomeOf = ({ hasFailed, addresses }: NameAnswer): NameOutcome =>
  hasFailed ? "failed" : addresses.length === 0 ? "denied" : "answered";
