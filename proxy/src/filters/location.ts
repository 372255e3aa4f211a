import type { Exchange } from "../exchange/exchange.ts";
import type { LocalReply } from "../message/local-reply.ts";

/** The parts of a Location that differ from the request's URL. */
export type LocationParts = {
  readonly scheme?: "http" | "https" | undefined;
  readonly hostname?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: ((path: string) => string) | undefined;
  /** Omits a slash at the end of the URL. */
  readonly cutSlash?: true;
  /** Omits the query; if absent, the query of the request is kept. */
  readonly query?: "none";
};

/** The parts of a request that a redirect is built from. */
type Redirected = Pick<Exchange, "host" | "path" | "query" | "scheme" | "forwardedUrl"> & {
  readonly publicPort: Pick<Exchange["publicPort"], "port">;
};

const defaultPorts = { http: 80, https: 443 } as const;

/**
 * Redirects the client, with an empty body. If `parts` sets a scheme without a port, the default port of the scheme is
 * used; otherwise the port that the client used. A default port is not written. A request without a host (HTTP/1.0) is
 * answered 400 if `parts` sets none either. See docs/features/redirect.md.
 */
export function redirectReply(exchange: Redirected, statusCode: number, parts: LocationParts): LocalReply {
  const { forwardedUrl } = exchange;
  const host = parts.hostname ?? forwardedUrl?.host ?? exchange.host;
  if (host === "") return noHost;
  const scheme = parts.scheme ?? exchange.scheme;
  const port = parts.port ?? (parts.scheme === undefined ? portOf(exchange, scheme) : defaultPorts[scheme]);
  const authority = port === defaultPorts[scheme] ? host : `${host}:${port}`;
  const path = parts.path === undefined ? exchange.path : parts.path(exchange.path);
  const uri = `${path}${parts.query === "none" ? "" : exchange.query}`;
  const end = parts.cutSlash && uri.endsWith("/") ? uri.slice(0, -1) : uri;
  return locationReply(statusCode, `${scheme}://${authority}${end}`);
}

/** The reply to a request without a host, to which a redirect needs one. */
export const noHost: LocalReply = { status: 400, error: "no host to redirect to" };

/** Redirects the client to this URL, with an empty body. */
export const locationReply = (statusCode: number, location: string): LocalReply => ({
  status: statusCode,
  headers: ["Location", location],
  body: "",
});

/**
 * The port that the client used. If a trusted proxy has not reported it, this is the port of the listener, or the
 * default port of the scheme that the proxy reported.
 */
function portOf({ publicPort, forwardedUrl }: Redirected, scheme: "http" | "https"): number {
  if (forwardedUrl === undefined) return publicPort.port;
  return forwardedUrl.port ?? (forwardedUrl.scheme === undefined ? publicPort.port : defaultPorts[scheme]);
}
