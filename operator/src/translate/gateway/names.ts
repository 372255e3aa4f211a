/**
 * Names and labels of the objects that the controller creates for a Gateway. See docs/gateway-api.md, "Objects
 * of a Gateway".
 */
import { createHash } from "node:crypto";
import type { ObjectOf } from "../../api/kinds.ts";

export const gatewayNameLabel = "gateway.networking.k8s.io/gateway-name";
export const gatewayNamespaceLabel = "gateway.svc-labs.dev/gateway-namespace";
export const componentLabel = "app.kubernetes.io/component";
export const vipComponent = "shared-gateway-vip";
/** The component of all objects of a Gateway with dedicated proxies. */
export const dedicatedComponent = "dedicated-proxy";
/** The component of the ServiceAccount that represents a Gateway of the shared proxies in its namespace. */
export const identityComponent = "shared-gateway-identity";
/** The annotation that names the controller that created an object. Several controllers can run in one cluster. */
export const controllerAnnotation = "gateway.svc-labs.dev/controller-name";

const maxNameLength = 63;

/**
 * The first 8 hex digits of the SHA-256 of `namespace/name`, which distinguish names that are truncated to the
 * same text.
 */
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/**
 * Limits a name, or the value of a label, to the length that Kubernetes allows. A truncated one ends in a
 * digest of `key`.
 */
export const bounded = (name: string, key: string): string =>
  name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength - 9)}-${digest(key)}`;

/** The name of the Service that provides a Gateway of the shared proxies with its own address. */
export const vipName = (gateway: ObjectOf<"Gateway">): string => `${sharedPrefix(gateway)}-shared-gw`;

/** The name of the ServiceAccount that represents a Gateway of the shared proxies in its namespace. */
export const identityName = (gateway: ObjectOf<"Gateway">): string => `${sharedPrefix(gateway)}-shared-sa`;

function sharedPrefix({ metadata: { namespace, name } }: ObjectOf<"Gateway">): string {
  const readable = serviceLabel(`${namespace}-${name}`).slice(0, 40).replace(/-+$/, "");
  return `${readable}-${digest(`${namespace}/${name}`)}`;
}

/**
 * Makes a text valid as the beginning of a Service name: names of Gateways can contain dots, and namespaces can
 * begin with a digit.
 */
function serviceLabel(name: string): string {
  const letters = name.replaceAll(".", "-");
  return /^[a-z]/.test(letters) ? letters : `gw-${letters}`;
}

/**
 * The name of the Deployment, the Service and every other object of a Gateway with dedicated proxies, except
 * its ServiceAccount (`serviceAccountNames`).
 */
export const dedicatedName = ({ metadata: { namespace, name } }: ObjectOf<"Gateway">): string =>
  objectName(`${name}-svc`, `${namespace}/${name}`);

/**
 * The names of the ServiceAccounts of the Gateways' proxies: `<gateway>-<class>` (GEP-1762). If two Gateways of
 * a namespace would share a name, the first in the list gets it, and the name of the other one contains a
 * digest. `gateways` must be in the order of their age.
 */
export function serviceAccountNames(
  gateways: readonly ObjectOf<"Gateway">[],
): ReadonlyMap<ObjectOf<"Gateway">, string> {
  const taken = new Set<string>();
  return new Map(
    gateways.map((gateway) => {
      const { namespace, name } = gateway.metadata;
      const key = `${namespace}/${name}`;
      const plain = `${name}-${gateway.spec.gatewayClassName}`;
      const usual =
        plain.length <= maxNameLength ? plain : `${beginning(plain, maxNameLength - 9)}-${digest(key)}`;
      const isFree = !taken.has(`${namespace}/${usual}`);
      const account = isFree ? usual : `${beginning(plain, 40)}-${digest(key)}`;
      taken.add(`${namespace}/${account}`);
      return [gateway, account];
    }),
  );
}

/** The beginning of a name, without trailing dots, so that a dash and a digest can be appended. */
const beginning = (name: string, length: number): string => name.slice(0, length).replace(/\.+$/, "");

/**
 * Returns a name that is also valid for a Service. A changed name contains a digest, so that the names of two
 * Gateways never collide.
 */
function objectName(name: string, key: string): string {
  const safe = serviceLabel(name);
  return safe === name ? bounded(name, key) : `${safe.slice(0, maxNameLength - 9)}-${digest(key)}`;
}

/** Labels that only this controller sets on the objects of a Gateway. */
export const ownLabelKeys: ReadonlySet<string> = new Set([
  "app.kubernetes.io/name",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  componentLabel,
  gatewayNameLabel,
  gatewayNamespaceLabel,
]);

/** The labels that select the pods of a Gateway in its namespace. They never change. */
export function selectorLabels(
  gateway: ObjectOf<"Gateway">,
  component: string,
): Readonly<Record<string, string>> {
  const { namespace, name } = gateway.metadata;
  return {
    "app.kubernetes.io/name": "svc",
    [componentLabel]: component,
    [gatewayNameLabel]: bounded(name, `${namespace}/${name}`),
  };
}

/** The labels of every object that is created for a Gateway. */
export function ownLabels(
  { metadata: { namespace, name } }: ObjectOf<"Gateway">,
  component: string,
): Readonly<Record<string, string>> {
  const key = `${namespace}/${name}`;
  return {
    "app.kubernetes.io/name": "svc",
    "app.kubernetes.io/instance": bounded(name, key),
    "app.kubernetes.io/managed-by": "svc",
    [componentLabel]: component,
    [gatewayNameLabel]: bounded(name, key),
    [gatewayNamespaceLabel]: namespace,
  };
}
