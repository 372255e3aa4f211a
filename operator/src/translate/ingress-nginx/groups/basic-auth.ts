/** Basic authentication. See docs/ingress-nginx.md, "Basic authentication". */
import { authBasicSecret, type AuthBasicSecret } from "@svc-gateway/common/features/auth-basic-secret.ts";
import { htpasswdKey } from "@svc-gateway/common/ir/keys.ts";
import { encodeResource } from "@svc-gateway/common/ir/resource.ts";
import { isStandIn } from "../../../api/stand-in.ts";
import { readAuthFile, readAuthMap, usersInPlainText } from "../../credentials/htpasswd.ts";
import { describeProblem } from "../../diagnostics/define-finding.ts";
import { digestUnsupported, weakHash } from "../../diagnostics/ingress-nginx.ts";
import { linesLeftOut } from "../../diagnostics/references.ts";
import { namesInMessages } from "../../text.ts";
import { authRealm, authSecret, authSecretType, authType } from "../annotations/basic-auth.ts";
import { isExempt } from "../exempt-paths.ts";
import type { NginxReader } from "../reader.ts";
import type { Group, GroupContext } from "./group.ts";
import { reportPartners } from "./partners.ts";

export const basicAuth: Group = (read, context) => {
  const { ingress, nginx, cannotProtect, noEffect } = context;
  const type = read(authType);
  if (type === undefined) {
    // An `auth-type` that cannot be read has closed the paths already.
    if (context.isWritten(authType)) return {};
    if (read.sourceOf(authSecret) === "annotation") {
      noEffect(authSecret, `without ${authType.name} no client is asked for a password`, "error");
    }
    reportPartners([authRealm, authSecretType], `has no effect without ${authType.name}`, read, context);
    return {};
  }
  if (type === "digest") {
    cannotProtect(authType, "digest authentication is not supported, expected basic", digestUnsupported);
    return {};
  }
  const value = readUsers(read, context);
  if (value === undefined) return {};
  const features = { "auth-basic-secret": value };
  const { noAuthLocations } = nginx.config.keys;
  return {
    onHost: (path, facts) => (isExempt(path, noAuthLocations, ingress, facts) ? undefined : features),
  };
};

/** Reads the users; undefined if the paths are closed. */
function readUsers(read: NginxReader, context: GroupContext): AuthBasicSecret | undefined {
  const { namespace, nginx, lookup, permits, close, report, provide } = context;
  const realm = readRealm(read, context);
  if (realm === "off") {
    close(authRealm, "the realm off switches authentication off in ingress-nginx; give it another name");
    return undefined;
  }
  const reference = read(authSecret);
  if (reference === undefined) {
    if (!context.isWritten(authSecret)) close(authType, `${authSecret.name} is missing`);
    return undefined;
  }
  const kind = read(authSecretType) ?? "auth-file";
  const owner = reference.namespace ?? namespace;
  const name = `${owner}/${reference.name}`;
  if (!permits({ kind: "Ingress", namespace }, { kind: "Secret", namespace: owner, name: reference.name })) {
    close(
      authSecret,
      `no ReferenceGrant permits a reference from Ingress in namespace ${namespace} to Secret ${name}`,
    );
    return undefined;
  }
  const secret = lookup("Secret", owner, reference.name);
  if (secret === undefined || isStandIn(secret)) {
    const unread =
      nginx.settings.classes.length > 0
        ? "is not of type Opaque"
        : "is not read without --ingress-nginx-classes";
    close(authSecret, `Secret ${name} does not exist, or ${unread}`);
    return undefined;
  }
  const users = kind === "auth-map" ? readAuthMap(secret) : readAuthFile(secret);
  if (!users.ok) {
    close(authSecret, `Secret ${name} cannot be used: ${describeProblem(users.error)}`);
    return undefined;
  }
  const plain = usersInPlainText(users.value);
  if (plain.length > 0 && nginx.policy.forbidden.has("auth-plain-hashes")) {
    close(
      authSecret,
      `Secret ${name} holds passwords in plain text, which the operator forbids, of users ${namesInMessages(plain)[0]}`,
    );
    return undefined;
  }
  const { value, weakUsers, leftOut } = users.value;
  for (const names of namesInMessages(weakUsers)) {
    report(authSecret, (place) => weakHash(place, `Secret ${name}`, names));
  }
  if (leftOut.length > 0) report(authSecret, (place) => linesLeftOut(place, `Secret ${name}`, leftOut));
  const htpasswd = `${name}/${kind}`;
  provide(encodeResource(htpasswdKey(htpasswd), value));
  return [{ htpasswd, ...(realm !== undefined && { realm }), hidesCredentials: true }];
}

/** The realm; undefined for that of this gateway, if its own annotation decides and cannot be read. */
const readRealm = (read: NginxReader, { own }: GroupContext): string | undefined =>
  read.sourceOf(authRealm) === "own" ? own(authBasicSecret.annotations.realm) : (read(authRealm) ?? "");
