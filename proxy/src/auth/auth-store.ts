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

/** The credentials and keys of the latest snapshot, with which the filters of a worker authenticate requests. */
export type AuthStore = {
  /** The users of an htpasswd resource (`namespace/name`); undefined when it does not exist. */
  users(name: string): UserList | undefined;
  /** The keys of a jwks resource (`namespace/name`); undefined when it does not exist. */
  keys(name: string): VerificationKeys | undefined;
  /** Runs checks of signatures; the namespaces of the keys take turns. */
  readonly signatures: Pick<FairTurns, "run">;
  /** Tokens that were accepted, by keyed hash, until they expire (milliseconds since 1970). */
  readonly tokens: VerifiedCache<AcceptedToken>;
  /** Sends a check request to an authorization service. */
  readonly sendCheck: SendCheck;
  /** Sends a question to a host that the gateway serves itself. */
  readonly askHost: AskHost;
  /** Remembered answers of authorization services, by a hash of check and request (`createAnswerCache`). */
  readonly answers: VerifiedCache<KnownAnswer>;
  /** The clock by which answers and accepted credentials expire, in monotonic milliseconds. */
  readonly now: () => number;
  /** The bound on request bodies that are held for authorization services. */
  readonly bodies: BodyMemory;
  /** Counts a limit that was reached. */
  readonly countLimit: (limit: AuthLimit) => void;
  /**
   * Takes a place for one more check request, and returns a function that releases it; undefined when no place is free.
   * `onLost` is called when the place is taken away for another owner with fewer check requests under way.
   */
  enterCall(owner: string, onLost: () => void): (() => void) | undefined;
  /** Applies the resources that changed, by name; an undefined value removes a resource. */
  update(changes: AuthChanges): void;
  close(): void;
};

/** A verified token; valid only while `keys` is still the current key set, and from `fromMs` on (since 1970). */
export type AcceptedToken = {
  readonly keys: VerificationKeys;
  readonly headers: FieldBlock;
  readonly fromMs: number;
};

export type AuthChanges = {
  readonly htpasswd: ReadonlyMap<string, Htpasswd | undefined>;
  readonly jwks: ReadonlyMap<string, KeySet | undefined>;
};

/** The maximum number of comparisons that wait for the one under way, see docs/features/auth-basic-secret.md. */
const maxWaitingComparisons = 64;
const maxVerifiedCredentials = 10_000;
const maxAcceptedTokens = 4_096;
/** The maximum number of remembered answers of authorization services, see docs/features/ext-auth.md. */
const maxAnswers = 10_000;

/**
 * The maximum number of concurrent signature checks of a worker. They run on Node's pool of four threads, which name
 * resolution and compression of all workers also need; two at a time use no more than a worker's share of it.
 */
const maxChecks = 2;
/** The maximum number of signature checks that wait, see docs/features/auth-jwt.md. */
const maxWaitingChecks = 512;

/** The maximum number of concurrent check requests of a worker to authorization services. */
const maxCalls = 1_024;

/** The maximum number of bytes of bodies that a worker holds for authorization services. */
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
  /** The share of this worker in the answers that a proxy remembers; 1 when absent. */
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
