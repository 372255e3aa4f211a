import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Htpasswd } from "@svc-gateway/common/ir/credentials.ts";
import type { BasicCredentials } from "./basic-credentials.ts";
import type { PasswordChecker, PasswordVerdict } from "./password-checker.ts";
import { createSecretDigest } from "./secret-digest.ts";
import type { VerifiedCache } from "./verified-cache.ts";

/**
 * `busy`: the check could not be made. Which of the two others a client has met is for log and metrics only: it must not
 * learn which names exist.
 */
export type UserVerdict = "accepted" | "unknown-user" | "wrong-password" | "busy";

/** The users of one htpasswd resource; a changed resource is another list. */
export type UserList = {
  /** Checks credentials. `isWanted` answers false once no request waits for the verdict. */
  check(given: BasicCredentials, isWanted: () => boolean): UserVerdict | Promise<UserVerdict>;
  /** Overwrites the hashes; called when the list has been replaced. */
  forget(): void;
};

/** What the user lists of a worker share. */
export type UserListOptions = {
  readonly passwords: PasswordChecker;
  /** The owner of the list: comparisons of one owner wait for each other. */
  readonly owner: string;
  readonly verified: VerifiedCache<true>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
};

const verifiedForMs = 60_000;
const shaPrefix = "{SHA}";

/**
 * Prepares a list for checks. The time that a check takes does not reveal whether a name exists: for an unknown name the
 * hash of another user is compared, always the same one, and the result ignored. Accepted credentials are accepted
 * for `verifiedForMs` without another comparison, remembered by a hash under a key that only this list has, so they end
 * with the list.
 */
export function createUserList({ users }: Htpasswd, options: UserListOptions): UserList {
  const { passwords, owner, verified, now } = options;
  const digestOf = createSecretDigest();
  const substituteKey = randomBytes(32);
  // Bytes, because those can be overwritten.
  const hashes = users.map(({ hash }) => Buffer.from(hash, "latin1"));
  const indexes = new Map(users.map(({ name }, index) => [name, index]));
  /** Comparisons under way, so that the many connections of one browser cost one. */
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
