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

/** Listeners of one family can share a port: each connection shows later which one it belongs to. */
export const familyOf = (protocol: ListenerProtocol): Family => families.get(protocol) ?? "http";

/** Whether listeners of the family have host names that tell them apart. */
export const hasHostnames = (family: Family): boolean => family === "http" || family === "tls";

/** The transport of a protocol. Ports of TCP and UDP do not collide. */
export const transportOf = (protocol: ListenerProtocol): "TCP" | "UDP" =>
  protocol === "udp" ? "UDP" : "TCP";

/**
 * Whether a reference to a parent names a kind that no API has: in the group of the Gateway API only the kinds with
 * listeners are parents, and the core group has none of these. Kinds of other groups may belong to other controllers.
 */
export const isMisnamedParent = (group: string, kind: string): boolean =>
  (group === gatewayGroup && kind !== "Gateway" && kind !== "ListenerSet") ||
  (group === "" && (kind === "Gateway" || kind === "ListenerSet"));

/** The kinds that have listeners. */
export type ListenerOwner = ObjectOf<"Gateway"> | ObjectOf<"ListenerSet">;
