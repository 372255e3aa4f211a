import type { ProxyScope } from "@svc-gateway/common/settings/settings.ts";
import {
  formatNamespacedName,
  isNamespaceName,
  isObjectName,
} from "@svc-gateway/common/values/namespaced-name.ts";
import type { NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { isSameIdentity, type WorkloadIdentity } from "@svc-gateway/proto/identity.ts";

/** The service accounts that may receive each scope. */
export type ExpectedPrincipals = {
  /** The service account of the scope's proxies; undefined if there is no such dedicated Gateway. */
  ofScope(scope: ProxyScope): WorkloadIdentity | undefined;
  /** Whether an identity belongs to any scope. */
  includes(identity: WorkloadIdentity): boolean;
};

/** A Gateway with dedicated proxies, and their service account in the Gateway's namespace. */
export type DedicatedGateway = { readonly gateway: NamespacedName; readonly serviceAccount: string };

/**
 * Expects the service account of the shared pool, and those of the dedicated Gateways at the time of each call. See
 * docs/discovery.md, "Scopes".
 */
export function createExpectedPrincipals(options: {
  readonly shared: WorkloadIdentity;
  readonly dedicated: () => Iterable<DedicatedGateway>;
}): ExpectedPrincipals {
  const { shared, dedicated } = options;
  const identityOf = ({ gateway, serviceAccount }: DedicatedGateway): WorkloadIdentity => ({
    namespace: gateway.namespace,
    serviceAccount,
  });
  const find = (test: (entry: DedicatedGateway) => boolean): WorkloadIdentity | undefined => {
    for (const entry of dedicated()) if (test(entry)) return identityOf(entry);
    return undefined;
  };
  return {
    ofScope(scope) {
      if (scope.kind === "shared") return shared;
      const { namespace, name } = scope.gateway;
      return find(({ gateway }) => gateway.namespace === namespace && gateway.name === name);
    },
    includes: (identity) =>
      isSameIdentity(identity, shared) ||
      find((entry) => isSameIdentity(identityOf(entry), identity)) !== undefined,
  };
}

/**
 * Reads the user name of a service account, `system:serviceaccount:<namespace>:<name>`; undefined for other users.
 */
export function parseServiceAccountUser(username: string): WorkloadIdentity | undefined {
  const [system, kind, namespace = "", serviceAccount = "", ...rest] = username.slice(0, 600).split(":");
  const isServiceAccount =
    system === "system" &&
    kind === "serviceaccount" &&
    rest.length === 0 &&
    isNamespaceName(namespace) &&
    isObjectName(serviceAccount);
  return isServiceAccount ? { namespace, serviceAccount } : undefined;
}

/** A scope as a key: `shared`, or the Gateway's `namespace/name`. */
export const scopeKey = (scope: ProxyScope): string =>
  scope.kind === "shared" ? "shared" : formatNamespacedName(scope.gateway);
