import {
  mirrorTarget,
  type MirrorTarget,
  type ServiceAddress,
} from "@svc-gateway/common/features/mirror-target.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { protocolOf, tcpPortsOf } from "../backends/service-port.ts";
import { mirrorDisabled } from "../diagnostics/references.ts";
import type { AnnotationReader } from "./annotation-reader.ts";
import type { FeatureContext } from "./context.ts";

/** Where copies of an Ingress's requests go; absent: nowhere. See docs/features/mirror-target.md. */
export function translateMirrorTarget(
  read: AnnotationReader,
  context: FeatureContext,
): MirrorTarget | undefined {
  const definition = mirrorTarget.annotations.mirrorTarget;
  const address = read(definition);
  if (address === undefined) return undefined;
  const { namespace, name } = address;
  const key = `${namespace}/${name}`;
  const disabled = (why: string): undefined => {
    context.report(definition, (place) => mirrorDisabled(place, why));
  };
  if (namespace !== context.referrer.namespace) {
    return disabled(`Service ${key} is in another namespace than the Ingress`);
  }
  const service = context.lookup("Service", namespace, name);
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
  context.useEndpoints({ name: endpoints, key, service, port, uses: ["copies"] });
  return [{ service: key, endpoints, protocol: protocolOf(port) }];
}

/** The port that is named; without one the only port, else 80. */
function choosePort(service: ObjectOf<"Service">, { port }: ServiceAddress) {
  const ports = tcpPortsOf(service);
  const numbered = (number: number) => ports.find((one) => one.port === number);
  if (port !== undefined) return numbered(port);
  return ports.length === 1 ? ports[0] : numbered(80);
}
