/** The certificate authorities that policies and Gateways name. See docs/features/backend-tls.md. */
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { describeProblem } from "../diagnostics/define-finding.ts";
import { memo } from "../incremental/memo.ts";
import type { View } from "../incremental/view.ts";
import { noGrant, type Referrer } from "../reference-grants.ts";
import type { TranslateSettings } from "../settings.ts";
import { quoteKind } from "../text.ts";
import { bundleKey, readBundle } from "./authorities.ts";

/** A reference in a BackendTLSPolicy or, with a namespace, in a Gateway. */
export type AuthorityRef = {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
};

/** The fault of a reference: its kind, a missing grant, or the object that it names. */
export type UnresolvedAuthority = {
  readonly why: "kind" | "grant" | "object";
  readonly field: string;
  readonly message: string;
};

type Unresolved = Omit<UnresolvedAuthority, "field">;

export type ResolvedAuthorities = {
  /** The certificates of all usable references as PEM; undefined if none is usable. */
  readonly pem: string | undefined;
  /** The fault of the first reference that cannot be resolved. */
  readonly refusal: UnresolvedAuthority | undefined;
};

export type AuthorityOptions = { readonly view: View } & Pick<TranslateSettings, "trustBundles">;

/**
 * Resolves references in `field` to ConfigMaps with `ca.crt` and to ClusterTrustBundles. A broken reference
 * does not affect the others.
 */
export function resolveAuthorities(
  refs: readonly AuthorityRef[],
  field: string,
  from: Referrer,
  options: AuthorityOptions,
): ResolvedAuthorities {
  const bundles = new Set<string>();
  let refusal: UnresolvedAuthority | undefined;
  for (const [index, ref] of refs.entries()) {
    const resolved = resolve(ref, from, options);
    if (typeof resolved === "string") bundles.add(resolved);
    else refusal ??= { why: resolved.why, field: `${field}[${index}]`, message: resolved.message };
  }
  return { pem: bundles.size === 0 ? undefined : [...bundles].join(""), refusal };
}

function resolve(
  ref: AuthorityRef,
  from: Referrer,
  { view, trustBundles }: AuthorityOptions,
): string | Unresolved {
  const { group, kind, name, namespace = from.namespace } = ref;
  if (group === "certificates.k8s.io" && kind === "ClusterTrustBundle") {
    if (!trustBundles) return { why: "kind", message: "The cluster does not serve ClusterTrustBundles" };
    const named = `ClusterTrustBundle ${name}`;
    // A namespace must not be set (GEP-5075).
    if (ref.namespace !== undefined) {
      return {
        why: "object",
        message: `${named} is cluster-scoped, expected a reference without a namespace`,
      };
    }
    const bundle = view.lookup("ClusterTrustBundle", "", name);
    return contentOf(named, bundle && readTrustBundle(bundle));
  }
  if (group !== "" || kind !== "ConfigMap") {
    const message = `${quoteKind({ group, kind })} is not a kind that holds certificate authorities, expected ConfigMap or ClusterTrustBundle`;
    return { why: "kind", message };
  }
  const named = `ConfigMap ${namespace}/${name}`;
  if (!view.permits(from, { kind, namespace, name })) {
    return { why: "grant", message: noGrant(namespace, from, named) };
  }
  const map = view.lookup("ConfigMap", namespace, name);
  return contentOf(named, map && readConfigMap(map));
}

const contentOf = (named: string, read: Result<string> | undefined): string | Unresolved =>
  read === undefined
    ? { why: "object", message: `${named} does not exist` }
    : read.ok
      ? read.value
      : { why: "object", message: `${named}: ${describeProblem(read.error)}` };

const readConfigMap = memo(({ data }: ObjectOf<"ConfigMap">): Result<string> => {
  const pem = data?.[bundleKey] ?? "";
  return pem === "" ? problem(`has no ${bundleKey}`) : readBundle(pem, bundleKey);
});

const readTrustBundle = memo(({ spec }: ObjectOf<"ClusterTrustBundle">): Result<string> =>
  readBundle(spec.trustBundle, "spec.trustBundle"),
);
