/** An htpasswd Secret as a list of users. See docs/features/auth-basic-secret.md. */
import type { Htpasswd } from "@svc-gateway/common/ir/credentials.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { readSecretValue } from "../../api/secret-value.ts";
import { memo } from "../incremental/memo.ts";

export type HtpasswdSecret = {
  readonly value: Htpasswd;
  /** Users whose password is kept as SHA-1, which is found out too fast. */
  readonly sha1Users: readonly string[];
  /** The lines that are ignored, one phrase each; never holds a hash. */
  readonly leftOut: readonly string[];
};

export const htpasswdLabel = "ingress.svc-labs.dev/auth-basic";
const contentKey = "auth";
const maxLines = 1000;
const maxNameLength = 255;

/** Reads the key `auth`. The error says why this Secret lets no client in. */
export const readHtpasswdSecret = memo((secret: ObjectOf<"Secret">): Result<HtpasswdSecret> => {
  const { metadata, type = "Opaque" } = secret;
  if (metadata.labels?.[htpasswdLabel] !== "true") {
    return problem(`it does not have the label ${htpasswdLabel}: "true"`);
  }
  if (type !== "Opaque") return problem("it is not of type Opaque");
  const content = readSecretValue(secret, contentKey);
  if (!content.ok) return problem(`its key ${content.error.message}`);
  if (content.value === undefined) return problem(`it has no key ${contentKey}`);
  const read = readLines(content.value.toString("utf8"));
  if (read.value.users.length > 0) return ok(read);
  return problem(
    read.leftOut.length === 0
      ? `its key ${contentKey} holds no user`
      : `its key ${contentKey} holds no valid line: ${read.leftOut.slice(0, 3).join(", ")}`,
  );
});

function readLines(text: string): HtpasswdSecret {
  const users = new Map<string, string | undefined>();
  const sha1Users: string[] = [];
  const leftOut: string[] = [];
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  if (lines.length > maxLines) leftOut.push(`everything after line ${maxLines}`);
  for (const [index, line] of lines.slice(0, maxLines).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const where = `line ${index + 1}`;
    const [name = "", hash = ""] = line.split(":", 2);
    if (name === "" || name.length > maxNameLength || hash === "") {
      leftOut.push(`${where} (not user:hash)`);
      continue;
    }
    if (users.has(name)) {
      leftOut.push(`${where} (the user of an earlier line)`);
      continue;
    }
    const refused = whyRefused(hash);
    // The first line of a user counts even without a usable hash: an administrator who locks a user that way must be
    // able to rely on it.
    users.set(name, refused === undefined ? hash : undefined);
    if (refused !== undefined) leftOut.push(`${where} (${refused})`);
    else if (isSha1(hash)) sha1Users.push(name);
  }
  const usable = [...users].flatMap(([name, hash]) => (hash === undefined ? [] : [{ name, hash }]));
  return { value: { users: usable }, sha1Users, leftOut };
}

const bcrypt = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;
const minCost = 4;
/** About a second of a processor; each step doubles it. */
const maxCost = 14;
const sha1 = /^\{SHA\}[A-Za-z0-9+/]{27}=$/;

const isSha1 = (hash: string): boolean => sha1.test(hash);

function whyRefused(hash: string): string | undefined {
  if (isSha1(hash)) return undefined;
  const cost = bcrypt.exec(hash)?.[1];
  if (cost === undefined) return "neither bcrypt nor {SHA}";
  return Number(cost) >= minCost && Number(cost) <= maxCost
    ? undefined
    : `bcrypt cost outside ${minCost} to ${maxCost}`;
}
