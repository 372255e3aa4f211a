import {
  authBasicSecret,
  unknownUsers,
  type AuthBasicSecret,
} from "@svc-gateway/common/features/auth-basic-secret.ts";
import { htpasswdKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { formatNamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { htpasswdLabel, readHtpasswdSecret } from "../credentials/htpasswd.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { linesLeftOut, protectionUnavailable } from "../diagnostics/references.ts";
import { namesInMessages } from "../text.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";
import { resolveProtection } from "./reference.ts";

/**
 * The users whose credentials admit a request; undefined without authentication. See
 * docs/features/auth-basic-secret.md.
 */
export function translateAuthBasicSecret(
  read: AnnotationReader,
  context: FeatureContext,
): AuthBasicSecret | undefined {
  const definition = authBasicSecret.annotations.authBasicSecret;
  // Read in any case, so that a value that cannot be used is also reported without a Secret.
  const realm = read(authBasicSecret.annotations.realm);
  const hides = read(authBasicSecret.annotations.hidesCredentials) === true;
  const orElse = ` or does not have the label ${htpasswdLabel}: "true"`;
  const secret = resolveProtection("Secret", definition, read, context, orElse);
  if (secret === undefined) return undefined;
  if (secret === "invalid") return unknownUsers;
  if (secret === "unavailable") return [{}];
  const name = formatNamespacedName(secret.metadata);
  const users = readHtpasswdSecret(secret);
  if (!users.ok) {
    const why = `Secret ${name} cannot be used: ${describeProblem(users.error)}`;
    context.reportWithEvent(definition, (place) => protectionUnavailable(place, why, definition.fallback));
    return [{}];
  }
  const { value, weakUsers, leftOut } = users.value;
  for (const names of namesInMessages(weakUsers)) {
    context.warn(
      definition,
      `Secret ${name} holds password hashes of SHA-1 or MD5, which are fast to crack (expected bcrypt), for users ${names}`,
    );
  }
  if (leftOut.length > 0)
    context.report(definition, (place) => linesLeftOut(place, `Secret ${name}`, leftOut));
  context.provide(encodeResource(htpasswdKey(name), value));
  return [
    {
      htpasswd: name,
      ...(realm !== undefined && { realm }),
      ...(hides && { hidesCredentials: true as const }),
    },
  ];
}
