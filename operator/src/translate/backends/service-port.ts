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

/**
 * A Service port whose endpoints the snapshot must contain. `port.port` is its number, which `name` also contains.
 */
export type EndpointRef = {
  /** The name of the endpoint set: `namespace/service/port`, or `namespace/service/port/udp` for a UDP port. */
  readonly name: string;
  /** `namespace/name` of the Service. */
  readonly key: string;
  readonly service: ObjectOf<"Service">;
  readonly port: ServicePort;
  /** The uses of the endpoints, sorted and without duplicates. */
  readonly uses: readonly EndpointUse[];
  /**
   * The settings that an Ingress requires for the endpoints, if they differ from those of other users of the
   * Service port.
   */
  readonly variant?: EndpointVariant;
};

/**
 * Settings that require a separate endpoint set, which several routes can share. `id`, the end of its name,
 * depends only on the settings: equal ids mean equal settings.
 */
export type EndpointVariant = {
  readonly id: string;
  /**
   * The resource `backendtls|` with the TLS settings of connections, unless a BackendTLSPolicy applies to the
   * Service port.
   */
  readonly tls?: string;
};

/** Returns the same Service port with separate settings. */
export const variantOf = (endpointRef: EndpointRef, variant: EndpointVariant): EndpointRef => ({
  ...endpointRef,
  name: `${endpointRef.name}/${variant.id}`,
  variant,
});

/**
 * Merges references with the same name. The result does not depend on their order: of several ports with one
 * number, the port with the lowest name is chosen. The result has the uses of all references.
 */
export function mergeEndpointRefs(endpointRefs: readonly [EndpointRef, ...EndpointRef[]]): EndpointRef {
  if (endpointRefs.length === 1) return endpointRefs[0];
  const chosen = endpointRefs.reduce((a, b) =>
    compareText(b.port.name ?? "", a.port.name ?? "") < 0 ? b : a,
  );
  const uses = [...new Set(endpointRefs.flatMap((endpointRef) => endpointRef.uses))].sort(compareText);
  return uses.length === chosen.uses.length ? chosen : { ...chosen, uses };
}

/** Whether references with the same name have the same endpoints, and the same finding if there are none. */
export const isSameEndpointRef = (a: EndpointRef, b: EndpointRef): boolean =>
  a.service === b.service && a.port === b.port && haveSameItems(a.uses, b.uses);

type ResolvedBackend = {
  /** The backend, with `status` instead of `endpoints` if requests cannot be sent anywhere. */
  readonly backend: Backend;
  readonly endpointRef?: EndpointRef;
  readonly diagnostic?: Diagnostic;
};

/** The status with which an Ingress backend that cannot be resolved answers. */
const unavailable = 503;

/** The transport protocol of a backend. */
export type Transport = "TCP" | "UDP";

type ServicePortReference = {
  readonly namespace: string;
  readonly name: string;
  readonly port: ServicePortRef;
  /** Defaults to TCP. */
  readonly transport?: Transport;
  /** Defaults to requests. */
  readonly use?: EndpointUse;
  /**
   * Whether a port that the Service does not have can be the `targetPort` of one of its ports, as in ingress-nginx.
   */
  readonly acceptsTargetPort?: boolean;
};

/**
 * Finds a Service port to send to, with the reference to its endpoints; the error is the reason why there is none.
 */
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
 * Resolves an Ingress backend. If the Service or port does not exist, or if an ExternalName Service is not
 * permitted, the backend answers 503. The rest of the Ingress is not affected.
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

/** A backend that answers 503. `service` is `namespace/name`, or empty if none is named. */
export const unresolvedBackend = (service: string): Backend => ({
  weight: 1,
  service,
  protocol: "http1",
  status: unavailable,
});

const formatPortRef = (port: ServicePortRef): string => ("number" in port ? String(port.number) : port.name);

/** Finds a port of a Service. For a Service without any port (ExternalName), every port number is accepted. */
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

/** The first port with this text as its `targetPort`. */
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

/**
 * The protocol of a port. `kubernetes.io/h2c` is HTTP/2 in cleartext (Kubernetes documentation, "Application
 * protocol").
 */
export const protocolOf = ({ appProtocol }: ServicePort): Backend["protocol"] =>
  appProtocol === "kubernetes.io/h2c" ? "http2" : "http1";
