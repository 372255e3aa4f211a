import type { ObjectOf } from "../../api/kinds.ts";

/** The kinds of routes, and which of them each protocol of a listener carries (Gateway API, ProtocolType). */
export const gatewayGroup = "gateway.networking.k8s.io";

export type HttpRouteKind = "HTTPRoute" | "GRPCRoute";
export type L4RouteKind = "TLSRoute" | "TCPRoute" | "UDPRoute";
export type RouteKind = HttpRouteKind | L4RouteKind;

type Protocol = {
  readonly protocol: "http" | "https" | "tls" | "tcp" | "udp";
  /** Listeners of one family can share a port while their hostnames differ. */
  readonly family: "http" | "tls" | "tcp" | "udp";
  readonly kinds: readonly RouteKind[];
};

/** The protocols of listeners that are supported, by their names in the API. */
export const protocols = {
  HTTP: { protocol: "http", family: "http", kinds: ["HTTPRoute", "GRPCRoute"] },
  HTTPS: { protocol: "https", family: "tls", kinds: ["HTTPRoute", "GRPCRoute"] },
  TLS: { protocol: "tls", family: "tls", kinds: ["TLSRoute"] },
  TCP: { protocol: "tcp", family: "tcp", kinds: ["TCPRoute"] },
  UDP: { protocol: "udp", family: "udp", kinds: ["UDPRoute"] },
} as const satisfies Record<string, Protocol>;

export type ProtocolName = keyof typeof protocols;
export type ListenerProtocol = (typeof protocols)[ProtocolName]["protocol"];
export type Family = Protocol["family"];

export const isProtocolName = (name: string): name is ProtocolName => Object.hasOwn(protocols, name);

const families = new Map<ListenerProtocol, Family>(
  Object.values(protocols).map(({ protocol, family }) => [protocol, family]),
);

/** The family of a protocol. Listeners of one family that has hostnames can share a port. */
export const familyOf = (protocol: ListenerProtocol): Family => families.get(protocol) ?? "http";

/** Whether listeners of the family are distinguished by their hostnames. */
export const hasHostnames = (family: Family): boolean => family === "http" || family === "tls";

/** The transport of a protocol. TCP and UDP ports with the same number do not conflict. */
export const transportOf = (protocol: ListenerProtocol): "TCP" | "UDP" =>
  protocol === "udp" ? "UDP" : "TCP";

/**
 * Whether a reference to a parent names a kind that does not exist. In the group of the Gateway API, only the
 * kinds with listeners can be parents, and the core group has none of these. Kinds of other groups can belong
 * to other controllers.
 */
export const isMisnamedParent = (group: string, kind: string): boolean =>
  (group === gatewayGroup && kind !== "Gateway" && kind !== "ListenerSet") ||
  (group === "" && (kind === "Gateway" || kind === "ListenerSet"));

/** The kinds that have listeners. */
export type ListenerOwner = ObjectOf<"Gateway"> | ObjectOf<"ListenerSet">;
