import type { MirrorTarget, ServiceAddress } from "@svc-gateway/common/features/mirror-target.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { protocolOf, tcpPortsOf, type EndpointRef } from "../backends/service-port.ts";
import type { FeatureContext } from "./context.ts";

/** The data that a feature needs to send requests to a Service. */
type NamedService = Pick<MirrorTarget[number], "service" | "protocol"> & { readonly endpoints: string };

/**
 * Resolves a Service of the Ingress's own namespace, and adds its endpoints to those that the routes use. If
 * the Service or port does not exist, passes the reason to `disabled` and returns undefined.
 */
export function resolveNamedService(
  address: ServiceAddress,
  { lookup, referrer, useEndpoints }: Pick<FeatureContext, "lookup" | "referrer" | "useEndpoints">,
  uses: EndpointRef["uses"],
  disabled: (why: string) => undefined,
): NamedService | undefined {
  const { namespace, name } = address;
  const key = `${namespace}/${name}`;
  if (namespace !== referrer.namespace) {
    return disabled(`Service ${key} is in another namespace than the Ingress`);
  }
  const service = lookup("Service", namespace, name);
  if (service === undefined) return disabled(`Service ${key} does not exist`);
  if (service.spec?.type === "ExternalName") return disabled(`Service ${key} is of type ExternalName`);
  const port = choosePort(service, address);
  if (port === undefined) {
    return disabled(
      address.port === undefined
        ? `Service ${key} has neither a TCP port 80 nor exactly one TCP port, so the annotation must name a port`
        : `Service ${key} has no TCP port ${address.port}`,
    );
  }
  const endpoints = `${key}/${port.port}`;
  useEndpoints({ name: endpoints, key, service, port, uses });
  return { service: key, endpoints, protocol: protocolOf(port) };
}

/** The named port; if none is named, the only port, otherwise port 80. */
function choosePort(service: ObjectOf<"Service">, { port }: ServiceAddress) {
  const ports = tcpPortsOf(service);
  const numbered = (number: number) => ports.find((one) => one.port === number);
  if (port !== undefined) return numbered(port);
  return ports.length === 1 ? ports[0] : numbered(80);
}
