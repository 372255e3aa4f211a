import type { Endpoint } from "@svc-gateway/common/values/endpoint.ts";
import { isNamespaceName } from "@svc-gateway/common/values/namespaced-name.ts";
import { controllerServiceAccount } from "@svc-gateway/proto/identity.ts";
import type { ControllerName } from "./channel.ts";

/**
 * The controller to expect at an endpoint: the controller's service account in the namespace of its Service, which is
 * the second label of `<service>.<namespace>.svc`. For a host without a namespace, or an address, the controller is
 * expected in the proxy's own namespace.
 */
export function controllerBehind(
  { host }: Endpoint,
  trustDomain: string,
  podNamespace: string,
): ControllerName {
  const [, namespace = "", kind] = host.split(".");
  const isServiceName = (kind === undefined || kind === "svc") && isNamespaceName(namespace);
  return {
    trustDomain,
    host,
    identity: {
      namespace: isServiceName && host.includes(".") ? namespace : podNamespace,
      serviceAccount: controllerServiceAccount,
    },
  };
}
