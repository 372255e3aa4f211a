/** Resolves the EndpointSlices of a Service to the addresses that requests are sent to. See docs/routing.md. */
import type { Endpoint, EndpointSet } from "@svc-gateway/common/ir/endpoints.ts";
import type { OwnPortCheck } from "@svc-gateway/common/ir/own-port-check.ts";
import { parseDnsName } from "@svc-gateway/common/values/hostname.ts";
import { canonicalIp, formatIpPort } from "@svc-gateway/common/values/ip-address.ts";
import type { EndpointConditions } from "../../api/generated/endpointslice.ts";
import type { ObjectOf } from "../../api/kinds.ts";
import { formatRef, refOf } from "../../api/object.ts";
import { compareText } from "../age.ts";
import { closureOf, type Closure } from "../closures.ts";
import { noEndpoints, ownPortRefused } from "../diagnostics/backends.ts";
import type { Diagnostic } from "../finding.ts";
import { isPortNumber, type EndpointRef } from "./service-port.ts";

type EndpointSlice = ObjectOf<"EndpointSlice">;
type AddressType = EndpointSlice["addressType"];

export type ResolvedEndpoints = {
  readonly set: EndpointSet;
  /** Endpoints that are omitted because they are ports of the gateway itself. */
  readonly refused: readonly Endpoint[];
  readonly diagnostics: readonly Diagnostic[];
};

/** The endpoints that the operator of the gateway allows. */
export type EndpointRules = {
  /** Whether endpoints may be host names. */
  readonly allowExternalName: boolean;
  /** The ports of the gateway itself, which no endpoint may be (docs/security.md, "Ports of the gateway itself"). */
  readonly isOwnPort: OwnPortCheck;
};

/**
 * Resolves the endpoints of a Service port. Ports of slices are matched by name, so that named target ports can
 * differ from pod to pod. Endpoints that are ready and not terminating are used; if there are none, terminating
 * endpoints that still serve are used. A dual-stack Service uses the addresses of its first family or, if there
 * are none, of the other one.
 */
export function resolveEndpoints(
  { key, service, port, uses }: EndpointRef,
  slices: readonly EndpointSlice[],
  { allowExternalName, isOwnPort }: EndpointRules,
): ResolvedEndpoints {
  const closure = closureFor(service, port);
  const resolved =
    closure !== undefined
      ? none(`${closure.by.map(formatRef).join(", ")}, which targets it, is not valid`)
      : service.spec?.type === "ExternalName"
        ? fromExternalName(service.spec.externalName ?? "", port)
        : fromSlices(service, slices, port, allowExternalName);
  const isRefused = ({ host, port: number }: Endpoint): boolean =>
    resolved.resolve === "static" && isOwnPort(host, number);
  const refused = resolved.addresses.filter(isRefused);
  const addresses =
    refused.length === 0 ? resolved.addresses : resolved.addresses.filter((one) => !isRefused(one));
  const set: EndpointSet = { addresses, resolve: resolved.resolve, service: key };
  const place = { object: refOf(service) };
  const [first] = refused;
  if (first !== undefined) {
    const shown = formatIpPort(first.host, first.port);
    const left = addresses.length > 0 ? undefined : uses;
    return { set, refused, diagnostics: [ownPortRefused(place, port.port, shown, refused.length, left)] };
  }
  if (resolved.why === undefined) return { set, refused, diagnostics: [] };
  return { set, refused, diagnostics: [noEndpoints(place, port.port, resolved.why, uses)] };
}

/**
 * The closure that applies to this port of a Service. One by BackendTLSPolicies does not apply to datagrams,
 * which are never sent over TLS.
 */
function closureFor(
  service: ObjectOf<"Service">,
  { name = "", protocol }: EndpointRef["port"],
): Closure | undefined {
  const closure = closureOf(service);
  if (closure?.sections?.has(name) === false) return undefined;
  const isAboutTls = closure?.by.every(({ kind }) => kind === "BackendTLSPolicy") === true;
  return protocol === "UDP" && isAboutTls ? undefined : closure;
}

type Addresses = {
  readonly resolve: EndpointSet["resolve"];
  readonly addresses: readonly Endpoint[];
  /** The reason why there is no address; absent if there are some. */
  readonly why?: string;
};

const none = (why: string): Addresses => ({ resolve: "static", addresses: [], why });

/** Resolves an external name. An address instead of a name is used unchanged, without the Domain Name System. */
function fromExternalName(externalName: string, port: EndpointRef["port"]): Addresses {
  const portNumber = isPortNumber(port.targetPort) ? port.targetPort : port.port;
  const ip = canonicalIp(externalName.trim());
  if (ip !== undefined) return { resolve: "static", addresses: [{ host: ip, port: portNumber }] };
  const name = parseDnsName(externalName);
  if (!name.ok) return none(`its external name is not valid: ${name.error.message}`);
  return { resolve: "dns", addresses: [{ host: name.value, port: portNumber }] };
}

function fromSlices(
  service: ObjectOf<"Service">,
  slices: readonly EndpointSlice[],
  port: EndpointRef["port"],
  allowFqdn: boolean,
): Addresses {
  if (slices.length === 0) return none("the Service has no EndpointSlice");
  const usable = slicesWithPort(slices, port);
  if (usable.length === 0) {
    const { name = "", protocol = "TCP" } = port;
    return none(`no EndpointSlice has a port named "${name}" for ${protocol}`);
  }
  const families = [...addressFamilies(service), ...(allowFqdn ? (["FQDN"] as const) : [])];
  for (const isUsable of [isReady, isDraining]) {
    for (const family of families) {
      const addresses = addressesOf(usable, family, isUsable);
      if (addresses.length > 0) return { resolve: family === "FQDN" ? "dns" : "static", addresses };
    }
  }
  const onlyNames = !allowFqdn && usable.every(({ slice }) => slice.addressType === "FQDN");
  return none(
    onlyNames
      ? "its EndpointSlices hold host names, which are only used with --allow-external-name"
      : "no endpoint is ready",
  );
}

type UsableSlice = { readonly slice: EndpointSlice; readonly port: number };

/** The slices that have a port of a Service, each with the number of the port in the slice. */
export function slicesWithPort(
  slices: readonly EndpointSlice[],
  { name: portName = "", protocol: portProtocol = "TCP" }: EndpointRef["port"],
): readonly UsableSlice[] {
  return slices.flatMap((slice) => {
    const match = slice.ports?.find(
      ({ name = "", protocol = "TCP" }) => name === portName && protocol === portProtocol,
    );
    return isPortNumber(match?.port) ? [{ slice, port: match.port }] : [];
  });
}

/** The address family to try first, then the other one. */
function addressFamilies({ spec }: ObjectOf<"Service">): readonly ["IPv4" | "IPv6", "IPv4" | "IPv6"] {
  const first = spec?.ipFamilies?.[0] ?? (spec?.clusterIP?.includes(":") === true ? "IPv6" : "IPv4");
  return first === "IPv6" ? ["IPv6", "IPv4"] : ["IPv4", "IPv6"];
}

/** An unknown condition counts as ready (Kubernetes API reference, EndpointConditions). */
const isReady = ({ ready = true, terminating = false }: EndpointConditions): boolean => ready && !terminating;

const isDraining = ({ ready = true, serving = ready, terminating = false }: EndpointConditions): boolean =>
  serving && terminating;

/**
 * The addresses sorted by host, then port, without duplicates. As for kube-proxy, only the first address of an
 * endpoint counts.
 */
function addressesOf(
  slices: readonly UsableSlice[],
  family: AddressType,
  isUsable: (conditions: EndpointConditions) => boolean,
): readonly Endpoint[] {
  const byText = new Map<string, Endpoint>();
  for (const { slice, port } of slices) {
    if (slice.addressType !== family) continue;
    for (const { addresses, conditions = {} } of slice.endpoints ?? []) {
      const host = canonicalAddress(addresses[0] ?? "", family);
      if (host !== undefined && isUsable(conditions)) byText.set(`${host} ${port}`, { host, port });
    }
  }
  return [...byText.values()].sort((a, b) => compareText(a.host, b.host) || a.port - b.port);
}

function canonicalAddress(text: string, family: AddressType): string | undefined {
  if (family !== "FQDN") return canonicalIp(text);
  const name = parseDnsName(text);
  return name.ok ? name.value : undefined;
}
