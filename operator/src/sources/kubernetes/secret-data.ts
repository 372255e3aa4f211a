/** Reduces Secrets to the parts that are held. See docs/controller.md, "Memory". */
import { maxSecretValueBytes, tooLargeSecretValue } from "../../api/secret-value.ts";
import type { KubeObject } from "../../api/object.ts";

type Secret = KubeObject & {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
};

const tlsType = "kubernetes.io/tls";
const tlsKeys = ["tls.crt", "tls.key", "ca.crt"];
/** The keys of Secrets of other types, which may also contain a certificate and its key. */
const otherKeys = ["auth", ...tlsKeys];

/** The largest length of a value in base64 characters. */
const maxValueLength = Math.ceil(maxSecretValueBytes / 3) * 4;

/**
 * Returns a Secret with only the values that a configuration can use; a value that is too long is replaced by a marker.
 */
export function usableSecret(object: KubeObject): KubeObject {
  const { type, data = {} } = object as Secret;
  return withData(object, type === tlsType ? tlsKeys : otherKeys, data);
}

/** The keys of Secrets for ingress-nginx, which can also have the revocation list of its authorities. */
const plainKeys = [...otherKeys, "ca.crl"];
/** The largest length, in base64, of a value that can be a password hash, in Secrets with a key per user. */
const maxHashLength = 1_024;
const maxUsers = 1_000;

/**
 * Reduces a Secret for Ingresses of ingress-nginx. These Secrets need no label and have other keys: certificates,
 * authorities, and users in a single value or as one key each.
 */
export function plainSecret(object: KubeObject): KubeObject {
  const { data = {} } = object as Secret;
  const users = Object.keys(data).filter((key) => (data[key] ?? "").length <= maxHashLength);
  const keys = new Set([...plainKeys, ...users.sort().slice(0, maxUsers + 1)]);
  return withData(object, [...keys], data);
}

/** Reduces one of the controllers' own Secrets, with all its keys. */
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

/** Reduces a Secret that no object names to its name and version. */
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
