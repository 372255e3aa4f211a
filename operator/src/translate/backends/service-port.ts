/** Resolves a port of a Service to the backend of a route. See docs/routing.md. */
import type { Backend } from "@svc-gateway/common/ir/route.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import type { ServicePort } from "../../api/generated/service.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import type { Lookup } from "../../world.ts";
import { compareText } from "../age.ts";
import {
  externalNameNotAllowed,
  serviceNotFound,
  servicePortNotFound,
  targetPortUsed,
} from "../diagnostics/backends.ts";
import type { Place } from "../diagnostics/define-finding.ts";
import type { Diagnostic } from "../finding.ts";
import { haveSameItems } from "../incremental/memo.ts";
import type { ServicePortRef, EndpointUse } from "./service-port-ref.ts";

/** A Service port whose endpoints the snapshot must hold. `port.port` is its number, also in `name`. */
export type EndpointRef = {
  /** Name of the endpoint set: `namespace/service/port`, of a UDP port `namespace/service/port/udp`. */
  readonly name: string;
  /** `namespace/name` of the Service. */
  readonly key: string;
  readonly service: ObjectOf<"Service">;
  readonly port: ServicePort;
  /** The uses of the endpoints, each once and sorted. */
  readonly uses: readonly EndpointUse[];
  /** How an Ingress wants the endpoints to be used, where that differs from other users of the Service port. */
  readonly variant?: EndpointVariant;
};

/**
 * Settings of an endpoint set of its own, which several routes may share. `id`, the end of its name, follows from the
 * settings alone: equal ids mean equal settings.
 */
export type EndpointVariant = {
  readonly id: string;
  /** The resource `backendtls|` by which connections use TLS, unless a BackendTLSPolicy applies to the Service port. */
  readonly tls?: string;
};

/** The same Service port with settings of its own. */
export const variantOf = (endpointRef: EndpointRef, variant: EndpointVariant): EndpointRef => ({
  ...endpointRef,
  name: `${endpointRef.name}/${variant.id}`,
  variant,
});

/**
 * Merges references with one name, in any order: ports of one number may have several names, of which one is chosen.
 * The result has the uses of all of them.
 */
export function mergeEndpointRefs(endpointRefs: readonly [EndpointRef, ...EndpointRef[]]): EndpointRef {
  if (endpointRefs.length === 1) return endpointRefs[0];
  const chosen = endpointRefs.reduce((a, b) =>
    compareText(b.port.name ?? "", a.port.name ?? "") < 0 ? b : a,
  );
  const uses = [...new Set(endpointRefs.flatMap((endpointRef) => endpointRef.uses))].sort(compareText);
  return uses.length === chosen.uses.length ? chosen : { ...chosen, uses };
}

/** Whether references of one name have the same endpoints, and the same finding where there are none. */
export const isSameEndpointRef = (a: EndpointRef, b: EndpointRef): boolean =>
  a.service === b.service && a.port === b.port && haveSameItems(a.uses, b.uses);

type ResolvedBackend = {
  /** Carries `status` instead of `endpoints` when requests cannot be sent anywhere. */
  readonly backend: Backend;
  readonly endpointRef?: EndpointRef;
  readonly diagnostic?: Diagnostic;
};

/** The status that answers for an Ingress backend that cannot be resolved. */
const unavailable = 503;

/** The transport protocol of a backend. */
export type Transport = "TCP" | "UDP";

type ServicePortReference = {
  readonly namespace: string;
  readonly name: string;
  readonly port: ServicePortRef;
  /** TCP unless it says otherwise. */
  readonly transport?: Transport;
  /** Requests unless it says otherwise. */
  readonly use?: EndpointUse;
  /** Whether a port that the Service does not have may be the `targetPort` of one, as ingress-nginx accepts it. */
  readonly acceptsTargetPort?: boolean;
};

/** A Service port to send to, with the need of its endpoints; or why there is none. */
export function findServicePort(
  {
    namespace,
    name,
    port: wanted,
    transport = "TCP",
    use = "requests",
    acceptsTargetPort = false,
  }: ServicePortReference,
  lookup: Lookup,
  allowExternalName: boolean,
): Result<
  { readonly backend: Backend; readonly endpointRef: EndpointRef },
  "no-service" | "external-name" | "no-port"
> {
  const key = `${namespace}/${name}`;
  const service = lookup("Service", namespace, name);
  if (service === undefined) return fail("no-service");
  if (service.spec?.type === "ExternalName" && !allowExternalName) return fail("external-name");
  const port =
    findPort(service, wanted, transport) ??
    (acceptsTargetPort ? findByTargetPort(service, wanted, transport) : undefined);
  if (port === undefined) return fail("no-port");
  const endpoints = `${key}/${port.port}${transport === "UDP" ? "/udp" : ""}`;
  return ok({
    backend: { endpoints, protocol: protocolOf(port), service: key, weight: 1 },
    endpointRef: { name: endpoints, key, service, port, uses: [use] },
  });
}

/**
 * Resolves an Ingress backend. A Service or port that does not exist, or an ExternalName Service without permission,
 * answers 503; the rest of the Ingress is not affected.
 */
export function resolveServicePort(
  reference: ServicePortReference,
  place: Place,
  lookup: Lookup,
  allowExternalName: boolean,
): ResolvedBackend {
  const found = findServicePort(reference, lookup, allowExternalName);
  if (found.ok) {
    const { port } = found.value.endpointRef;
    if (reference.acceptsTargetPort !== true || isPort(port, reference.port)) return found.value;
    return { ...found.value, diagnostic: targetPortUsed(place, formatPortRef(reference.port), port) };
  }
  const key = `${reference.namespace}/${reference.name}`;
  const diagnostic = {
    "no-service": () => serviceNotFound(place, key),
    "external-name": () => externalNameNotAllowed(place, key),
    "no-port": () => servicePortNotFound(place, key, formatPortRef(reference.port)),
  }[found.error]();
  return { backend: unresolvedBackend(key), diagnostic };
}

/** A backend that answers 503; `service` is `namespace/name`, or empty when none is named. */
export const unresolvedBackend = (service: string): Backend => ({
  weight: 1,
  service,
  protocol: "http1",
  status: unavailable,
});

const formatPortRef = (port: ServicePortRef): string => ("number" in port ? String(port.number) : port.name);

/** A Service without any port (ExternalName) is taken at its word. */
function findPort(
  { spec }: ObjectOf<"Service">,
  wanted: ServicePortRef,
  transport: Transport,
): ServicePort | undefined {
  const all = spec?.ports ?? [];
  const ports = all.filter(({ protocol = "TCP" }) => protocol === transport);
  if ("name" in wanted) return ports.find((port) => port.name === wanted.name);
  if (spec?.type === "ExternalName" && all.length === 0 && isPortNumber(wanted.number)) {
    return { port: wanted.number, ...(transport === "UDP" && { protocol: transport }) };
  }
  return ports.find((port) => port.port === wanted.number);
}

const isPort = (port: ServicePort, wanted: ServicePortRef): boolean =>
  "name" in wanted ? port.name === wanted.name : port.port === wanted.number;

/** The first port whose `targetPort` is written so. */
const findByTargetPort = (
  { spec }: ObjectOf<"Service">,
  wanted: ServicePortRef,
  transport: Transport,
): ServicePort | undefined =>
  (spec?.ports ?? []).find(
    ({ protocol = "TCP", targetPort }) =>
      protocol === transport && targetPort !== undefined && String(targetPort) === formatPortRef(wanted),
  );

/** The ports of a Service that can carry HTTP. */
export const tcpPortsOf = ({ spec }: ObjectOf<"Service">): readonly ServicePort[] =>
  (spec?.ports ?? []).filter(isTcp);

const isTcp = ({ protocol = "TCP" }: { readonly protocol?: string }): boolean => protocol === "TCP";

export const isPortNumber = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535;

/** Kubernetes documentation, "Application protocol": `kubernetes.io/h2c` is HTTP/2 in cleartext. */
export const protocolOf = ({ appProtocol }: ServicePort): Backend["protocol"] =>
  appProtocol === "kubernetes.io/h2c" ? "http2" : "http1";
