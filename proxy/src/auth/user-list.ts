import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Htpasswd } from "@svc-gateway/common/ir/credentials.ts";
import type { BasicCredentials } from "./basic-credentials.ts";
import type { PasswordChecker, PasswordVerdict } from "./password-checker.ts";
import { createSecretDigest } from "./secret-digest.ts";
import type { VerifiedCache } from "./verified-cache.ts";

/**
 * The result of a check of credentials; `busy` if it could not be made. `unknown-user` and `wrong-password` are
 * distinct for log and metrics only: a client must not learn which names exist.
 */
export type UserVerdict = "accepted" | "unknown-user" | "wrong-password" | "busy";

/** The users of one htpasswd resource; a changed resource is another list. */
export type UserList = {
  /** Checks credentials. `isWanted` returns false once the request no longer waits for the verdict. */
  check(given: BasicCredentials, isWanted: () => boolean): UserVerdict | Promise<UserVerdict>;
  /** Overwrites the hashes; called when the list has been replaced. */
  forget(): void;
};

/** The dependencies of a user list, most of which all lists of a worker share. */
export type UserListOptions = {
  readonly passwords: PasswordChecker;
  /** The owner of the list; owners take turns with their comparisons. */
  readonly owner: string;
  readonly verified: VerifiedCache<true>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
};

const verifiedForMs = 60_000;
const shaPrefix = "{SHA}";

/**
 * Prepares a list for checks. The duration of a check does not reveal whether a name exists: an unknown name is
 * compared with the hash of a user that is always the same for that name, and the result is ignored. Accepted
 * credentials are accepted for `verifiedForMs` without another comparison. They are remembered by a digest with a key
 * of this list, and so expire with it.
 */
export function createUserList({ users }: Htpasswd, options: UserListOptions): UserList {
  const { passwords, owner, verified, now } = options;
  const digestOf = createSecretDigest();
  const substituteKey = randomBytes(32);
  // Bytes, because those can be overwritten.
  const hashes = users.map(({ hash }) => Buffer.from(hash, "latin1"));
  const indexes = new Map(users.map(({ name }, index) => [name, index]));
  /** The checks under way, so that the parallel connections of a browser cost one comparison. */
  const underWay = new Map<
    string,
    { readonly wanted: (() => boolean)[]; readonly verdict: Promise<UserVerdict> }
  >();

  const compare = async (
    given: BasicCredentials,
    hash: string,
    isWanted: () => boolean,
  ): Promise<PasswordVerdict> =>
    hash.startsWith(shaPrefix)
      ? matchesSha1(given.password, hash)
        ? "match"
        : "mismatch"
      : passwords.compare(given.password, hash, isWanted, owner);

  const verify = async (
    given: BasicCredentials,
    key: string,
    isWanted: () => boolean,
  ): Promise<UserVerdict> => {
    const known = indexes.get(given.name);
    const index = known ?? substituteFor(given.name);
    const verdict = await compare(given, hashes[index]?.toString("latin1") ?? "", isWanted);
    if (verdict === "busy") return "busy";
    if (known === undefined) return "unknown-user";
    if (verdict === "mismatch") return "wrong-password";
    verified.set(key, true, now() + verifiedForMs);
    return "accepted";
  };

  /** The index of the user whose hash is compared for an unknown name. */
  const substituteFor = (name: string): number =>
    createHmac("sha256", substituteKey).update(name).digest().readUInt32BE(0) % hashes.length;

  return {
    check(given, isWanted) {
      const key = digestOf(`${given.name}\0${given.password}`);
      if (verified.get(key, now()) === true) return "accepted";
      const other = underWay.get(key);
      if (other !== undefined) {
        other.wanted.push(isWanted);
        return other.verdict;
      }
      const wanted = [isWanted];
      const verdict = verify(given, key, () => wanted.some((one) => one())).finally(() =>
        underWay.delete(key),
      );
      underWay.set(key, { wanted, verdict });
      return verdict;
    },
    forget() {
      for (const hash of hashes) hash.fill(0);
      indexes.clear();
    },
  };
}

function matchesSha1(password: string, hash: string): boolean {
  const expected = Buffer.from(hash.slice(shaPrefix.length), "base64");
  const actual = createHash("sha1").update(password, "utf8").digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}
