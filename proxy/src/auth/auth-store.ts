import type { Htpasswd } from "@svc-gateway/common/ir/credentials.ts";
import { createBcryptChecker } from "./bcrypt-checker.ts";
import { createUserList, type UserList } from "./user-list.ts";
import { createVerifiedCache } from "./verified-cache.ts";

/** What the filters of a worker check credentials with, as the last snapshot says. Asked once per request. */
export type AuthStore = {
  /** The users of an htpasswd resource (`namespace/name`); undefined when there is none. */
  users(name: string): UserList | undefined;
  /** Takes over the resources that changed, by name; undefined is one that is gone. */
  update(changes: AuthChanges): void;
  close(): void;
};

export type AuthChanges = {
  readonly htpasswd: ReadonlyMap<string, Htpasswd | undefined>;
};

/** Comparisons that may wait for the one under way, see docs/features/auth-basic-secret.md. */
const maxWaitingComparisons = 64;
const maxVerifiedCredentials = 10_000;

/** Creates the store of a worker; workers share nothing of it. */
export function createAuthStore(now: () => number = () => performance.now()): AuthStore {
  const bcrypt = createBcryptChecker(maxWaitingComparisons);
  const verified = createVerifiedCache<true>(maxVerifiedCredentials);
  const lists = new Map<string, UserList>();
  return {
    users: (name) => lists.get(name),
    update({ htpasswd }) {
      for (const [name, value] of htpasswd) {
        lists.get(name)?.forget();
        if (value === undefined) lists.delete(name);
        else lists.set(name, createUserList(value, { bcrypt, verified, now }));
      }
    },
    close: () => bcrypt.close(),
  };
}
