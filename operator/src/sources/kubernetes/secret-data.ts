/** What is held of a Secret. See docs/controller.md, "Memory". */
import { maxSecretValueBytes, tooLargeSecretValue } from "../../api/secret-value.ts";
import type { KubeObject } from "../../api/object.ts";

type Secret = KubeObject & {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
};

const tlsType = "kubernetes.io/tls";
const tlsKeys = ["tls.crt", "tls.key", "ca.crt"];
/** Of Secrets of other types, which may hold a certificate and its key as well. */
const otherKeys = ["auth", ...tlsKeys];

/** Characters of a value in base64. */
const maxValueLength = Math.ceil(maxSecretValueBytes / 3) * 4;

/** A Secret with only those of its values that a configuration can use, and none that is longer than one may be. */
export function usableSecret(object: KubeObject): KubeObject {
  const { type, data = {} } = object as Secret;
  return withData(object, type === tlsType ? tlsKeys : otherKeys, data);
}

/** What Secrets of ingress-nginx hold besides: authorities and their revocation list beside a certificate. */
const plainKeys = [...otherKeys, "ca.crl"];
/** In base64, of a value that can be the hash of a password: where each key is a user. */
const maxHashLength = 1_024;
const maxUsers = 1_000;

/**
 * A Secret for Ingresses of ingress-nginx, which need no label and have other keys: certificates, authorities and users, one
 * of them by key.
 */
export function plainSecret(object: KubeObject): KubeObject {
  const { data = {} } = object as Secret;
  const users = Object.keys(data).filter((key) => (data[key] ?? "").length <= maxHashLength);
  const keys = new Set([...plainKeys, ...users.sort().slice(0, maxUsers + 1)]);
  return withData(object, [...keys], data);
}

/** A Secret that the controllers keep for themselves. */
export const ownSecret = (object: KubeObject): KubeObject => {
  const { data = {} } = object as Secret;
  return withData(object, Object.keys(data), data);
};

function withData(
  { apiVersion, kind, metadata, ...rest }: KubeObject,
  keys: readonly string[],
  data: Readonly<Record<string, string>>,
): KubeObject {
  const { type } = rest as Secret;
  const entries = keys.flatMap((key): readonly (readonly [string, string])[] => {
    const value = data[key];
    if (value === undefined) return [];
    return [[key, value.length > maxValueLength ? tooLargeSecretValue : value]];
  });
  const kept = { data: Object.fromEntries(entries), ...(type !== undefined && { type }) };
  return { apiVersion, kind, metadata, ...kept } as KubeObject;
}

/** A Secret that no object names: its name and its version. */
export function secretWithoutData({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion } = metadata;
  const kept = {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return { apiVersion, kind, metadata: kept };
}
