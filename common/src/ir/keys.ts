/** A resource key of the discovery channel, see docs/discovery.md. */
export type ResourceKey = string & { readonly __brand: "ResourceKey" };

export type RouteGroup = "ingress" | "gateway";
export type HostKind = "exact" | "wildcard" | "any";

/** A host in routing: `exact` is a name, `wildcard` is `*.x`, `any` is every host (`*`). Lower case. */
export type HostPattern = { readonly kind: HostKind; readonly host: string };

export const routeKey = (group: RouteGroup, port: number, host: HostPattern): ResourceKey =>
  `route|${group}|${port}|${host.kind}|${host.host}` as ResourceKey;

export const tlsKey = (port: number): ResourceKey => `tls|${port}` as ResourceKey;

/** The protocol of a listener below HTTP. */
export type L4Protocol = "tls" | "tcp" | "udp";

export const l4Key = (protocol: L4Protocol, port: number): ResourceKey =>
  `l4|${protocol}|${port}` as ResourceKey;

/** The key of the client certificates that are requested for the server names of a port. */
export const clientCertKey = (port: number): ResourceKey => `clientcert|${port}` as ResourceKey;

export const ticketKeysKey = "config|ticket-keys" as ResourceKey;

/** The key of a listener set. `owner` is `namespace/name` of a Gateway, or `ingress`. */
export const listenerKey = (owner: string): ResourceKey => `listener|${owner}` as ResourceKey;

/** The key of an endpoint set. `name` is `namespace/service/port`, by which backends refer to it. */
export const endpointsKey = (name: string): ResourceKey => `endpoints|${name}` as ResourceKey;

/**
 * The key of TLS settings for backends. `name` is `namespace/name` of a BackendTLSPolicy, by which endpoint sets refer
 * to it.
 */
export const backendTlsKey = (name: string): ResourceKey => `backendtls|${name}` as ResourceKey;

/**
 * The key of the certificate that a Gateway presents to backends. `gateway` is its `namespace/name`, by which its hosts
 * refer to the certificate.
 */
export const backendCertificateKey = (gateway: string): ResourceKey =>
  `backendcert|${gateway}` as ResourceKey;

/**
 * The key of a list of users. `name` is the reference of routes: `namespace/name` of an htpasswd Secret, followed by
 * another `/` and the format in which it is read, unless that is the usual one.
 */
export const htpasswdKey = (name: string): ResourceKey => `htpasswd|${name}` as ResourceKey;

/** The key of a key set. `name` is `namespace/name` of a JwtAuth, by which routes refer to its keys. */
export const jwksKey = (name: string): ResourceKey => `jwks|${name}` as ResourceKey;

export const sessionKeyKey = "config|session-key" as ResourceKey;

export const ownPortsKey = "config|own-ports" as ResourceKey;

const endpointsPrefix = "endpoints|";

/** The parts of the most recently parsed route key, without its host. */
let lastRoute: {
  readonly beginning: string;
  readonly group: RouteGroup;
  readonly port: number;
  readonly kind: HostKind;
} = { beginning: "", group: "ingress", port: 0, kind: "any" };

/** A parsed key; undefined if it has no known form (a newer controller's resource is then ignored). */
export type ParsedKey =
  | { readonly type: "route"; readonly group: RouteGroup; readonly port: number; readonly host: HostPattern }
  | { readonly type: "tls"; readonly port: number }
  | { readonly type: "clientcert"; readonly port: number }
  | { readonly type: "l4"; readonly protocol: L4Protocol; readonly port: number }
  | { readonly type: "ticket-keys" }
  | { readonly type: "listener"; readonly owner: string }
  | { readonly type: "session-key" }
  | { readonly type: "own-ports" }
  | { readonly type: "endpoints"; readonly name: string }
  | { readonly type: "backendtls"; readonly name: string }
  | { readonly type: "backendcert"; readonly name: string }
  | { readonly type: "htpasswd"; readonly name: string }
  | { readonly type: "jwks"; readonly name: string };

export function parseKey(key: string): ParsedKey | undefined {
  // About half of the keys of a snapshot are of this type.
  if (key.startsWith(endpointsPrefix)) {
    const name = key.slice(endpointsPrefix.length);
    return name === "" || name.includes("|") ? undefined : { type: "endpoints", name };
  }
  // The other half: keys are sorted, and most have the same beginning as the previous one.
  const { beginning, group, port, kind } = lastRoute;
  if (beginning !== "" && key.startsWith(beginning)) {
    const host = key.slice(beginning.length);
    if (host !== "" && !host.includes("|")) return { type: "route", group, port, host: { kind, host } };
  }
  return parseParts(key);
}

function parseParts(key: string): ParsedKey | undefined {
  const parts = key.split("|");
  const [type, second = ""] = parts;
  switch (type) {
    case "route": {
      const [, group, portText = "", kind, host = ""] = parts;
      const port = parsePort(portText);
      if (port === undefined || host === "" || parts.length !== 5) return undefined;
      if (group !== "ingress" && group !== "gateway") return undefined;
      if (kind !== "exact" && kind !== "wildcard" && kind !== "any") return undefined;
      lastRoute = { beginning: key.slice(0, -host.length), group, port, kind };
      return { type, group, port, host: { kind, host } };
    }
    case "tls":
    case "clientcert": {
      const port = parsePort(second);
      return port === undefined || parts.length !== 2 ? undefined : { type, port };
    }
    case "l4": {
      const port = parsePort(parts[2] ?? "");
      if (port === undefined || parts.length !== 3) return undefined;
      return second === "tls" || second === "tcp" || second === "udp"
        ? { type, protocol: second, port }
        : undefined;
    }
    case "config":
      if (key === ticketKeysKey) return { type: "ticket-keys" };
      if (key === ownPortsKey) return { type: "own-ports" };
      return key === sessionKeyKey ? { type: "session-key" } : undefined;
    case "listener":
      return second === "" || parts.length !== 2 ? undefined : { type, owner: second };
    case "backendtls":
    case "backendcert":
    case "htpasswd":
    case "jwks":
      return second === "" || parts.length !== 2 ? undefined : { type, name: second };
    default:
      return undefined;
  }
}

function parsePort(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65535 ? port : undefined;
}
