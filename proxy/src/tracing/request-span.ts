import { registeredMethods } from "@svc-gateway/common/telemetry/registered-methods.ts";
import { maskText } from "@svc-gateway/common/telemetry/redaction.ts";
import type { TracedRequest } from "../exchange/traced-request.ts";
import { attributeName, bounded } from "./attribute.ts";
import type { SpanWriter } from "./span-writer.ts";
import type { TraceIdentity } from "./trace-identity.ts";

const known: ReadonlySet<string> = new Set(registeredMethods);

const names = {
  method: attributeName("http.request.method"),
  originalMethod: attributeName("http.request.method_original"),
  scheme: attributeName("url.scheme"),
  path: attributeName("url.path"),
  route: attributeName("http.route"),
  routeId: attributeName("svc_gateway.route.id"),
  serverAddress: attributeName("server.address"),
  serverPort: attributeName("server.port"),
  clientAddress: attributeName("client.address"),
  peerAddress: attributeName("network.peer.address"),
  peerPort: attributeName("network.peer.port"),
  protocol: attributeName("network.protocol.name"),
  version: attributeName("network.protocol.version"),
  status: attributeName("http.response.status_code"),
  requestSize: attributeName("http.request.body.size"),
  responseSize: attributeName("http.response.body.size"),
  userAgent: attributeName("user_agent.original"),
  upstreamService: attributeName("svc_gateway.upstream.service"),
  requestId: attributeName("svc_gateway.request.id"),
  error: attributeName("svc_gateway.error"),
  errorType: attributeName("error.type"),
} as const;

/** Writes the attributes of the method. Clients can send any method, so unregistered ones are written as `_OTHER`. */
export function writeMethod(to: SpanWriter, method: string): void {
  if (known.has(method)) return to.attribute(names.method, method);
  to.attribute(names.method, "_OTHER");
  to.attribute(names.originalMethod, method);
}

/** The method as it appears in the name of a span. */
export const methodName = (method: string): string => (known.has(method) ? method : "HTTP");

/** Writes the span of kind SERVER of a request (semantic conventions of OpenTelemetry for HTTP, "HTTP server"). */
export function writeRequestSpan(
  to: SpanWriter,
  request: TracedRequest,
  identity: TraceIdentity,
  offsetMs: number,
): void {
  const { route, connection, method, status, error } = request;
  const { spanId, caller } = identity;
  const isError = status >= 500 || (error !== "" && status === 499);
  const userAgent = request.received.first("user-agent");
  to.open(identity, {
    spanId,
    parentId: caller?.parentId,
    isParentRemote: caller !== undefined,
    kind: "server",
    name: route === undefined ? methodName(method) : `${methodName(method)} ${route.pattern}`,
    startMs: request.startedAtMs + offsetMs,
    endMs: performance.now() + offsetMs,
  });
  writeMethod(to, method);
  to.attribute(names.scheme, request.scheme);
  to.attribute(names.path, request.matchedPath);
  if (route !== undefined) {
    to.attribute(names.route, route.pattern);
    to.attribute(names.routeId, route.id);
  }
  if (request.host !== "") to.attribute(names.serverAddress, request.host);
  to.attribute(names.serverPort, request.publicPort.port);
  to.attribute(names.clientAddress, request.clientIp);
  to.attribute(names.peerAddress, connection.remoteAddress);
  to.attribute(names.peerPort, connection.remotePort);
  to.attribute(names.protocol, "http");
  to.attribute(names.version, request.version === "2.0" ? "2" : request.version);
  if (status > 0) to.attribute(names.status, status);
  to.attribute(names.requestSize, request.bytesReceived);
  to.attribute(names.responseSize, request.client.bytesSent + request.tunnelBytesSent);
  // Cut before it is searched for secrets, to bound the search.
  if (userAgent !== undefined) to.attribute(names.userAgent, maskText(bounded(userAgent)));
  if (request.upstreamService !== "") to.attribute(names.upstreamService, request.upstreamService);
  if (request.knownRequestId !== "") to.attribute(names.requestId, request.knownRequestId);
  if (error !== "") to.attribute(names.error, error);
  if (isError) to.attribute(names.errorType, request.reason ?? String(status));
  to.close(isError ? error : undefined);
}
