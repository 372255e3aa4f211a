import { registeredMethods } from "@svc-gateway/common/telemetry/metric-declarations.ts";
import { maskText } from "@svc-gateway/common/telemetry/redaction.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { bounded, type SpanRecord, type TraceIdentity } from "./span-record.ts";

type Attributes = Record<string, string | number | boolean>;

const known: ReadonlySet<string> = new Set(registeredMethods);

/** The method as attributes show it: clients may send any, and only the registered ones are distinguished. */
export function methodAttributes(method: string): Attributes {
  return known.has(method)
    ? { "http.request.method": method }
    : { "http.request.method": "_OTHER", "http.request.method_original": bounded(method) };
}

/** The method in the name of a span. */
export const methodName = (method: string): string => (known.has(method) ? method : "HTTP");

/** The span of kind SERVER of a request (semantic conventions of OpenTelemetry for HTTP, "HTTP server"). */
export function requestSpan(exchange: Exchange, identity: TraceIdentity, offsetMs: number): SpanRecord {
  const { route, connection, method, status } = exchange;
  const { spanId, caller } = identity;
  const isError = status >= 500 || (exchange.error !== "" && status === 499);
  const userAgent = exchange.received.first("user-agent");
  return {
    spanId,
    parentId: caller?.parentId,
    isParentRemote: caller !== undefined,
    kind: "server",
    name: route === undefined ? methodName(method) : bounded(`${methodName(method)} ${route.pattern}`),
    startMs: exchange.startedAtMs + offsetMs,
    endMs: performance.now() + offsetMs,
    attributes: {
      ...methodAttributes(method),
      "url.scheme": exchange.scheme,
      "url.path": bounded(exchange.matchedPath),
      ...(route !== undefined && { "http.route": bounded(route.pattern), "svc_gateway.route.id": route.id }),
      ...(exchange.host !== "" && { "server.address": bounded(exchange.host) }),
      "server.port": exchange.publicPort.port,
      "client.address": exchange.clientIp,
      "network.peer.address": connection.remoteAddress,
      "network.peer.port": connection.remotePort,
      "network.protocol.name": "http",
      "network.protocol.version": versionOf(exchange.version),
      ...(status > 0 && { "http.response.status_code": status }),
      "http.request.body.size": exchange.bytesReceived,
      "http.response.body.size": exchange.client.bytesSent + exchange.tunnelBytesSent,
      ...(userAgent !== undefined && { "user_agent.original": maskText(bounded(userAgent)) }),
      ...(exchange.upstreamService !== "" && { "svc_gateway.upstream.service": exchange.upstreamService }),
      ...(exchange.knownRequestId !== "" && { "svc_gateway.request.id": bounded(exchange.knownRequestId) }),
      ...(exchange.error !== "" && { "svc_gateway.error": exchange.error }),
      ...(isError && { "error.type": exchange.reason ?? String(status) }),
    },
    error: isError ? exchange.error : undefined,
  };
}

export const versionOf = (version: Exchange["version"]): string => (version === "2.0" ? "2" : version);
