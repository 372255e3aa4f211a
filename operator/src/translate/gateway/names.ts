/** Names and labels of what the controller creates for a Gateway. See docs/gateway-api.md, "Objects of a Gateway". */
import { createHash } from "node:crypto";
import type { ObjectOf } from "../../api/kinds.ts";

const gatewayNameLabel = "gateway.networking.k8s.io/gateway-name";
const gatewayNamespaceLabel = "gateway.svc-labs.dev/gateway-namespace";
export const componentLabel = "app.kubernetes.io/component";
export const vipComponent = "shared-gateway-vip";

const maxNameLength = 63;

/** The first 8 hex digits of the SHA-256 of `namespace/name`, which tell names apart whose beginnings are equal. */
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** A name, or a label's value, that is not longer than Kubernetes allows. */
export const bounded = (name: string, key: string): string =>
  name.length <= maxNameLength ? name : `${name.slice(0, maxNameLength - 9)}-${digest(key)}`;

/** Name of the Service that gives a Gateway of the shared proxies its own address. */
export function vipName({ metadata: { namespace, name } }: ObjectOf<"Gateway">): string {
  const readable = `${namespace}-${name}`.slice(0, 40).replace(/[^a-z0-9]+$/, "");
  return `${readable}-${digest(`${namespace}/${name}`)}-shared-gw`;
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
