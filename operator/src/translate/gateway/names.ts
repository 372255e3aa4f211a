/** Names and labels of what the controller creates for a Gateway. See docs/gateway-api.md, "Objects of a Gateway". */
import { createHash } from "node:crypto";
import type { ObjectOf } from "../../api/kinds.ts";

export const gatewayNameLabel = "gateway.networking.k8s.io/gateway-name";
export const gatewayNamespaceLabel = "gateway.svc-labs.dev/gateway-namespace";
export const componentLabel = "app.kubernetes.io/component";
export const vipComponent = "shared-gateway-vip";
/** The component of everything that belongs to a Gateway with proxies of its own. */
export const dedicatedComponent = "dedicated-proxy";
/** The component of the ServiceAccount that represents a Gateway of the shared proxies in its namespace. */
export const identityComponent = "shared-gateway-identity";
/** An annotation that names the controller that made an object: several may run in one cluster. */
export const controllerAnnotation = "gateway.svc-labs.dev/controller-name";

const maxNameLength = 63;

/** The first 8 hex digits of the SHA-256 of `namespace/name`, which tell names apart whose beginnings are equal. */
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** A name, or a label's value, that is not longer than Kubernetes allows. */
export const bounded = (name: string, key: string): string =>
  name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength - 9)}-${digest(key)}`;

/** Name of the Service that gives a Gateway of the shared proxies its own address. */
export const vipName = (gateway: ObjectOf<"Gateway">): string => `${sharedPrefix(gateway)}-shared-gw`;

/** Name of the ServiceAccount that represents a Gateway of the shared proxies in its namespace. */
export const identityName = (gateway: ObjectOf<"Gateway">): string => `${sharedPrefix(gateway)}-shared-sa`;

function sharedPrefix({ metadata: { namespace, name } }: ObjectOf<"Gateway">): string {
  const readable = serviceLabel(`${namespace}-${name}`).slice(0, 40).replace(/-+$/, "");
  return `${readable}-${digest(`${namespace}/${name}`)}`;
}

/** Text that the name of a Service may begin with: Gateways may have dots in theirs, and namespaces begin with a digit. */
function serviceLabel(name: string): string {
  const letters = name.replaceAll(".", "-");
  return /^[a-z]/.test(letters) ? letters : `gw-${letters}`;
}

/**
 * Name of the Deployment, the Service and every other object of a Gateway with dedicated proxies, except the next.
 */
export const dedicatedName = ({ metadata: { namespace, name } }: ObjectOf<"Gateway">): string =>
  objectName(`${name}-svc`, `${namespace}/${name}`);

/**
 * Names of the ServiceAccounts of the proxies of Gateways: `<gateway>-<class>` (GEP-1762). Where that is one name for two
 * Gateways of a namespace, the first one in the list has it. `gateways` are in the order of their age.
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

/** The beginning of a name, so that a dash and more may follow it. */
const beginning = (name: string, length: number): string => name.slice(0, length).replace(/\.+$/, "");

/** A name that a Service may have as well. One that is changed gets a digest, so that no two Gateways meet. */
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

/** The labels by which the pods of a Gateway are found, in its namespace. They never change. */
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

/** The labels of every object that is made for a Gateway. */
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
