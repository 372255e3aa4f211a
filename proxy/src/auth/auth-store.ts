import type { Htpasswd, KeySet } from "@svc-gateway/common/ir/credentials.ts";
import { BodyMemory } from "../http/held-body.ts";
import type { FieldBlock } from "../message/field-block.ts";
import { createPasswordChecker } from "./password-checker.ts";
import type { SendCheck } from "./external-call.ts";
import type { KnownAnswer } from "./answer-cache.ts";
import type { AskHost } from "./host-call.ts";
import { FairPlaces } from "./fair-places.ts";
import { FairTurns } from "./fair-turns.ts";
import { createVerificationKeys, type VerificationKeys } from "./key-set.ts";
import { createUserList, type UserList } from "./user-list.ts";
import { createVerifiedCache, type VerifiedCache } from "./verified-cache.ts";

/** The credentials and keys of the last snapshot, with which the filters of a worker authenticate requests. */
export type AuthStore = {
  /** The users of an htpasswd resource (`namespace/name`); undefined when there is none. */
  users(name: string): UserList | undefined;
  /** The keys of a jwks resource (`namespace/name`); undefined when there is none. */
  keys(name: string): VerificationKeys | undefined;
  /** Checks of signatures, by the namespace of the keys. */
  readonly signatures: Pick<FairTurns, "run">;
  /** Tokens that were accepted, by keyed hash, until they expire (milliseconds since 1970). */
  readonly tokens: VerifiedCache<AcceptedToken>;
  /** Sends a check request to an authorization service. */
  readonly sendCheck: SendCheck;
  /** Asks a host that the gateway serves itself. */
  readonly askHost: AskHost;
  /** Answers of authorization services that are remembered, by a hash of what they are about. */
  readonly answers: VerifiedCache<KnownAnswer>;
  /** Monotonic milliseconds, by which everything here expires. */
  readonly now: () => number;
  /** The bound on request bodies that are held for authorization services. */
  readonly bodies: BodyMemory;
  /** Counts a limit that was reached. */
  readonly countLimit: (limit: AuthLimit) => void;
  /**
   * Takes a place for one more check request, given back by calling the result; undefined when there is none. `onLost` is
   * called when the place goes to another owner with fewer check requests under way.
   */
  enterCall(owner: string, onLost: () => void): (() => void) | undefined;
  /** Takes over the resources that changed, by name; undefined removes one. */
  update(changes: AuthChanges): void;
  close(): void;
};

/** The result of a token's verification; valid while the key set is still this one, and not before `fromMs` (since 1970). */
export type AcceptedToken = {
  readonly keys: VerificationKeys;
  readonly headers: FieldBlock;
  readonly fromMs: number;
};

export type AuthChanges = {
  readonly htpasswd: ReadonlyMap<string, Htpasswd | undefined>;
  readonly jwks: ReadonlyMap<string, KeySet | undefined>;
};

/** Comparisons that may wait for the one under way, see docs/features/auth-basic-secret.md. */
const maxWaitingComparisons = 64;
const maxVerifiedCredentials = 10_000;
const maxAcceptedTokens = 4_096;
/** Remembered answers to checks by URL, see docs/features/ext-auth.md. */
const maxAnswers = 10_000;

/**
 * Checks of signatures that a worker has under way. They run on Node's pool of four threads, which name resolution and
 * compression of all workers need as well; two at a time keep a worker's share of it busy, not more.
 */
const maxChecks = 2;
/** Checks that may wait, see docs/features/auth-jwt.md. */
const maxWaitingChecks = 512;

/** Check requests to authorization services under way in a worker. */
const maxCalls = 1_024;

/** Bytes of bodies that a worker holds for authorization services. */
const maxHeldBytes = 64 * 1024 * 1024;

/** Values of the `limit` label of `svc_proxy_limits_reached_total`. */
export type AuthLimit =
  /** Too many check requests were under way. */
  | "auth-calls"
  /** Too many signatures of tokens waited to be checked. */
  | "auth-tokens"
  /** Too many bytes of bodies were held. */
  | "auth-bodies";

type AuthStoreOptions = {
  readonly sendCheck?: SendCheck;
  readonly askHost?: AskHost;
  /** The share of this worker in what a proxy remembers; 1 when absent. */
  readonly share?: number;
  readonly countLimit?: (limit: AuthLimit) => void;
  readonly now?: () => number;
};

const noUpstreamClient: SendCheck = () => {
  throw new Error("createAuthStore was given no `sendCheck`: a check request cannot be sent");
};

/** Creates the store of a worker; workers do not share it. */
export function createAuthStore({
  sendCheck = noUpstreamClient,
  askHost = () => undefined,
  share = 1,
  countLimit = () => {},
  now = () => performance.now(),
}: AuthStoreOptions = {}): AuthStore {
  const passwords = createPasswordChecker(maxWaitingComparisons);
  const verified = createVerifiedCache<true>(maxVerifiedCredentials);
  const calls = new FairPlaces(maxCalls);
  const signatures = new FairTurns({ atOnce: maxChecks, maxWaiting: maxWaitingChecks }, () =>
    countLimit("auth-tokens"),
  );
  const lists = new Map<string, UserList>();
  const keySets = new Map<string, VerificationKeys>();
  return {
    users: (name) => lists.get(name),
    keys: (name) => keySets.get(name),
    sendCheck,
    askHost,
    answers: createVerifiedCache(Math.ceil(maxAnswers * share)),
    now,
    bodies: new BodyMemory(maxHeldBytes),
    countLimit,
    enterCall(owner, onLost) {
      const place = calls.take(owner, () => {
        countLimit("auth-calls");
        onLost();
      });
      if (place === undefined) countLimit("auth-calls");
      return place;
    },
    signatures,
    tokens: createVerifiedCache(maxAcceptedTokens),
    update({ htpasswd, jwks }) {
      for (const [name, value] of jwks) {
        if (value === undefined) keySets.delete(name);
        else keySets.set(name, createVerificationKeys(value, keySets.get(name)));
      }
      for (const [name, value] of htpasswd) {
        lists.get(name)?.forget();
        if (value === undefined) lists.delete(name);
        else {
          const [owner = ""] = name.split("/", 1);
          lists.set(name, createUserList(value, { passwords, owner, verified, now }));
        }
      }
    },
    close() {
      passwords.close();
      signatures.close();
    },
  };
}
