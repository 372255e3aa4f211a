import { registeredMethods } from "@svc-gateway/common/telemetry/registered-methods.ts";
import { maskText } from "@svc-gateway/common/telemetry/redaction.ts";
import type { TracedRequest } from "../exchange/traced-request.ts";
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
export function requestSpan(request: TracedRequest, identity: TraceIdentity, offsetMs: number): SpanRecord {
  const { route, connection, method, status } = request;
  const { spanId, caller } = identity;
  const isError = status >= 500 || (request.error !== "" && status === 499);
  const userAgent = request.received.first("user-agent");
  return {
    spanId,
    parentId: caller?.parentId,
    isParentRemote: caller !== undefined,
    kind: "server",
    name: route === undefined ? methodName(method) : bounded(`${methodName(method)} ${route.pattern}`),
    startMs: request.startedAtMs + offsetMs,
    endMs: performance.now() + offsetMs,
    attributes: {
      ...methodAttributes(method),
      "url.scheme": request.scheme,
      "url.path": bounded(request.matchedPath),
      ...(route !== undefined && { "http.route": bounded(route.pattern), "svc_gateway.route.id": route.id }),
      ...(request.host !== "" && { "server.address": bounded(request.host) }),
      "server.port": request.publicPort.port,
      "client.address": request.clientIp,
      "network.peer.address": connection.remoteAddress,
      "network.peer.port": connection.remotePort,
      "network.protocol.name": "http",
      "network.protocol.version": versionOf(request.version),
      ...(status > 0 && { "http.response.status_code": status }),
      "http.request.body.size": request.bytesReceived,
      "http.response.body.size": request.client.bytesSent + request.tunnelBytesSent,
      ...(userAgent !== undefined && { "user_agent.original": maskText(bounded(userAgent)) }),
      ...(request.upstreamService !== "" && { "svc_gateway.upstream.service": request.upstreamService }),
      ...(request.knownRequestId !== "" && { "svc_gateway.request.id": bounded(request.knownRequestId) }),
      ...(request.error !== "" && { "svc_gateway.error": request.error }),
      ...(isError && { "error.type": request.reason ?? String(status) }),
    },
    error: isError ? request.error : undefined,
  };
}

export const versionOf = (version: TracedRequest["version"]): string => (version === "2.0" ? "2" : version);
