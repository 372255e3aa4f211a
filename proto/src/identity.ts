/**
 * Names of workloads on the discovery channel: SPIFFE IDs of Kubernetes service accounts, carried as the one URI in
 * the subject alternative names of a certificate (SPIFFE X.509-SVID section 2). See docs/discovery.md, "Identities".
 */

/** A service account: the subject of a certificate of the discovery channel. */
export type WorkloadIdentity = { readonly namespace: string; readonly serviceAccount: string };

/**
 * The pod for which the certificate of a proxy was issued: name and uid, as reported by the API server for its token.
 */
export type WorkloadPod = { readonly name: string; readonly uid: string };

/** The service account of the controller, in its install namespace. The chart creates it under this name. */
export const controllerServiceAccount = "svc-controller";

/** Returns `spiffe://<trust-domain>/ns/<namespace>/sa/<service-account>`. */
export function spiffeId(trustDomain: string, { namespace, serviceAccount }: WorkloadIdentity): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}

const segment = "[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?";
const idPath = new RegExp(`^/ns/(${segment})/sa/(${segment})$`);

/** Reads a SPIFFE ID of the trust domain; undefined when it belongs to another domain or has another form. */
export function parseSpiffeId(trustDomain: string, uri: string): WorkloadIdentity | undefined {
  const prefix = `spiffe://${trustDomain}`;
  if (uri.length > 600 || !uri.startsWith(prefix)) return undefined;
  const [, namespace, serviceAccount] = idPath.exec(uri.slice(prefix.length)) ?? [];
  return namespace === undefined || serviceAccount === undefined ? undefined : { namespace, serviceAccount };
}

/**
 * The identity in the subject alternative names of a certificate, in the notation of Node.js. There must be exactly one
 * URI among them; names of other kinds are ignored. Names that Node.js had to quote are rejected, because no name of
 * this project needs quotes.
 */
export function identityOfNames(
  trustDomain: string,
  subjectAltName: string | undefined,
): WorkloadIdentity | undefined {
  if (subjectAltName === undefined || subjectAltName.includes('"')) return undefined;
  const uris = subjectAltName.split(", ").filter((name) => name.startsWith("URI:"));
  const [uri] = uris;
  return uri === undefined || uris.length !== 1
    ? undefined
    : parseSpiffeId(trustDomain, uri.slice("URI:".length));
}

/** Whether two identities name the same service account. */
export const isSameIdentity = (a: WorkloadIdentity, b: WorkloadIdentity): boolean =>
  a.namespace === b.namespace && a.serviceAccount === b.serviceAccount;

/** Returns `namespace/service-account`, for messages and logs. */
export const formatIdentity = ({ namespace, serviceAccount }: WorkloadIdentity): string =>
  `${namespace}/${serviceAccount}`;
