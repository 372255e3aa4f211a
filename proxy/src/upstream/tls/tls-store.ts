import type { BackendCertificate, BackendTls } from "@svc-gateway/common/ir/backend-tls.ts";
import { createSecureContexts, createUpstreamTls, type UpstreamTls } from "./upstream-tls.ts";

/** The changes of TLS settings towards upstreams in an update, by name; undefined for removed ones. */
export type TlsChanges = {
  readonly policies: ReadonlyMap<string, BackendTls | undefined>;
  readonly certificates: ReadonlyMap<string, BackendCertificate | undefined>;
};

/** The policies and client certificates of a worker, and the TLS settings of each pair of them. */
export type TlsStore = {
  update(changes: TlsChanges): void;
  /**
   * Returns the same object while neither the policy nor the certificate changes. If either is missing in the snapshot,
   * connections are refused. An empty `clientCertificate` means that none is presented.
   */
  get(policy: string, clientCertificate: string): UpstreamTls;
};

/** Used for a Gateway whose certificate is not in the snapshot. */
const noCertificate: BackendCertificate = {};

export function createTlsStore(): TlsStore {
  const contexts = createSecureContexts();
  const policies = new Map<string, BackendTls>();
  const certificates = new Map<string, BackendCertificate>();
  /** TLS settings by policy, then by client certificate. */
  const known = new Map<string, Map<string, UpstreamTls>>();
  return {
    update(changes) {
      for (const [name, policy] of changes.policies) {
        known.delete(name);
        put(policies, name, policy);
      }
      for (const [name, certificate] of changes.certificates) {
        for (const byCertificate of known.values()) byCertificate.delete(name);
        put(certificates, name, certificate);
      }
    },
    get(name, clientCertificate) {
      let byCertificate = known.get(name);
      if (byCertificate === undefined) known.set(name, (byCertificate = new Map<string, UpstreamTls>()));
      const present = byCertificate.get(clientCertificate);
      if (present !== undefined) return present;
      const client =
        clientCertificate === "" ? undefined : (certificates.get(clientCertificate) ?? noCertificate);
      const tls = createUpstreamTls(policies.get(name), client, contexts);
      byCertificate.set(clientCertificate, tls);
      return tls;
    },
  };
}

function put<Value>(map: Map<string, Value>, name: string, value: Value | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}
