/** The kinds of routes, and which of them each protocol of a listener carries (Gateway API, ProtocolType). */
export const gatewayGroup = "gateway.networking.k8s.io";

export type RouteKind = "HTTPRoute" | "GRPCRoute";

/** What a listener can speak here, by its name in the API. */
export const protocols = {
  HTTP: { protocol: "http", family: "http", kinds: ["HTTPRoute", "GRPCRoute"] },
  HTTPS: { protocol: "https", family: "tls", kinds: ["HTTPRoute", "GRPCRoute"] },
} as const satisfies Record<
  string,
  { readonly protocol: string; readonly family: string; readonly kinds: readonly RouteKind[] }
>;

export type ProtocolName = keyof typeof protocols;
export type ListenerProtocol = (typeof protocols)[ProtocolName]["protocol"];

export const isProtocolName = (name: string): name is ProtocolName => Object.hasOwn(protocols, name);
