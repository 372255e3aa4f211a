/** Reads an htpasswd Secret as a list of users. See docs/features/auth-basic-secret.md. */
import type { Htpasswd } from "@svc-gateway/common/ir/credentials.ts";
import { isWeakHash, readPasswordHash } from "@svc-gateway/common/values/password-hash.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { readSecretValue } from "../../api/secret-value.ts";
import { compareText } from "../age.ts";
import { memo } from "../incremental/memo.ts";
import { quote } from "../text.ts";

export type HtpasswdSecret = {
  readonly value: Htpasswd;
  /** Users whose hashes are too fast to crack. */
  readonly weakUsers: readonly string[];
  /** The lines that are ignored, with one phrase each. Never contains a hash. */
  readonly leftOut: readonly string[];
};

export const htpasswdLabel = "ingress.svc-labs.dev/auth-basic";
/** The label that, with the value `all`, also permits hashes of `crypt` and MD5 in a labelled Secret. */
const hashesLabel = "ingress.svc-labs.dev/auth-basic-hashes";

/** The labels for a Secret that was made for ingress-nginx, which keep all of its users. */
export const migratedHtpasswdLabels = { [htpasswdLabel]: "true", [hashesLabel]: "all" } as const;

const contentKey = "auth";
const maxLines = 1000;
const maxNameLength = 255;

/** Reads the hash of a user: whether it is weak, or the reason why it cannot be used. */
type ReadHash = (hash: string) => Result<{ readonly isWeak: boolean }>;

/** Reads the key `auth` of a labelled Secret. The error is the reason why the Secret admits no client. */
export const readHtpasswdSecret = memo((secret: ObjectOf<"Secret">): Result<HtpasswdSecret> => {
  const { metadata, type = "Opaque" } = secret;
  if (metadata.labels?.[htpasswdLabel] !== "true") {
    return problem(`it does not have the label ${htpasswdLabel}: "true"`);
  }
  if (type !== "Opaque") return problem("it is not of type Opaque");
  return readContent(secret, metadata.labels[hashesLabel] === "all" ? readHash : readSafeHash);
});

/** Reads the key `auth` of any Secret, with all kinds of hashes. */
export const readAuthFile = memo((secret: ObjectOf<"Secret">) => readContent(secret, readAnyHash));

/** The names of users whose passwords are in plain text. */
export const usersInPlainText = ({ value }: HtpasswdSecret): readonly string[] =>
  value.users.filter(({ hash }) => hash.startsWith("{PLAIN}")).map(({ name }) => name);

/** Reads each key of any Secret as a user, and its value as the hash. Surrounding blanks are ignored. */
export const readAuthMap = memo((secret: ObjectOf<"Secret">): Result<HtpasswdSecret> => {
  const list = new UserList(readAnyHash);
  const names = Object.keys(secret.data ?? {}).sort(compareText);
  if (names.length > maxLines) list.leftOut.push(`every user after the first ${maxLines}`);
  for (const name of names.slice(0, maxLines)) {
    const where = `key ${quote(name)}`;
    const content = readSecretValue(secret, name);
    if (!content.ok) list.leftOut.push(content.error.message);
    else list.add(name, (content.value ?? Buffer.alloc(0)).toString("latin1").trim(), where);
  }
  return list.finish("it");
});

function readContent(secret: ObjectOf<"Secret">, readHash: ReadHash): Result<HtpasswdSecret> {
  const content = readSecretValue(secret, contentKey);
  if (!content.ok) return problem(`its key ${content.error.message}`);
  if (content.value === undefined) return problem(`it has no key ${contentKey}`);
  return readLines(content.value, readHash).finish(`its key ${contentKey}`);
}

function readLines(content: Buffer, readHash: ReadHash): UserList {
  const list = new UserList(readHash);
  // Names are compared as text; hashes are octets, one character each.
  const lines = content.toString("latin1").split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > maxLines) list.leftOut.push(`everything after line ${maxLines}`);
  for (const [index, line] of lines.slice(0, maxLines).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const where = `line ${index + 1}`;
    const [name = "", hash = ""] = line.split(":", 2);
    if (name === "" || name.length > maxNameLength || hash === "") {
      list.leftOut.push(`${where} (not user:hash)`);
      continue;
    }
    list.add(Buffer.from(name, "latin1").toString("utf8"), hash, where);
  }
  return list;
}

class UserList {
  readonly leftOut: string[] = [];
  private readonly weakUsers: string[] = [];
  private readonly users = new Map<string, string | undefined>();
  private readonly readHash: ReadHash;

  constructor(readHash: ReadHash) {
    this.readHash = readHash;
  }

  /**
   * Adds a user. The first line of a user counts even if its hash is unusable: an administrator who locks a
   * user in this way must be able to rely on it.
   */
  add(name: string, hash: string, where: string): void {
    if (this.users.has(name)) {
      this.leftOut.push(`${where} (the user of an earlier line)`);
      return;
    }
    const read = this.readHash(hash);
    this.users.set(name, read.ok ? hash : undefined);
    if (!read.ok) this.leftOut.push(`${where} (${this.naming(name)}${read.error.message})`);
    else if (read.value.isWeak) this.weakUsers.push(name);
  }

  /**
   * Includes the user in findings if any Secret is accepted, because its author may not know the limits of a
   * labelled one.
   */
  private naming(name: string): string {
    return this.readHash === readAnyHash ? `user ${quote(name)}: ` : "";
  }

  /** Returns the users. `subject` is the text that was read, for the error. */
  finish(subject: string): Result<HtpasswdSecret> {
    const { leftOut, weakUsers } = this;
    const users = [...this.users].flatMap(([name, hash]) => (hash === undefined ? [] : [{ name, hash }]));
    if (users.length > 0) return ok({ value: { users }, weakUsers, leftOut });
    return problem(
      leftOut.length === 0
        ? `${subject} holds no user`
        : `${subject} holds no valid line: ${leftOut.slice(0, 3).join(", ")}`,
    );
  }
}

/** Accepts all hashes except plain passwords. */
const readHash: ReadHash = (hash) => {
  const kind = readPasswordHash(hash);
  if (!kind.ok) return kind;
  return kind.value === "plain" ? problem("password in plain text") : ok({ isWeak: isWeakHash(kind.value) });
};

/** Accepts the hashes of `htpasswd -B` and `-s`. */
const readSafeHash: ReadHash = (hash) => {
  const kind = readPasswordHash(hash);
  if (kind.ok && (kind.value === "bcrypt" || kind.value === "sha1")) {
    return ok({ isWeak: isWeakHash(kind.value) });
  }
  return !kind.ok && hash.startsWith("$2") ? kind : problem("neither bcrypt nor {SHA}");
};

const readAnyHash: ReadHash = (hash) => {
  const kind = readPasswordHash(hash);
  return kind.ok ? ok({ isWeak: isWeakHash(kind.value) }) : kind;
};
