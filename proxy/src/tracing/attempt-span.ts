import type { TracedRequest } from "../exchange/traced-request.ts";
import type { AttemptNote } from "../http/upstream-notes.ts";
import { attributeName } from "./attribute.ts";
import { methodName, writeMethod } from "./request-span.ts";
import type { SpanWriter } from "./span-writer.ts";
import type { TraceIdentity } from "./trace-identity.ts";

const names = {
  url: attributeName("url.full"),
  serverAddress: attributeName("server.address"),
  serverPort: attributeName("server.port"),
  protocol: attributeName("network.protocol.name"),
  version: attributeName("network.protocol.version"),
  resendCount: attributeName("http.request.resend_count"),
  status: attributeName("http.response.status_code"),
  isReused: attributeName("svc_gateway.upstream.connection_reused"),
  errorType: attributeName("error.type"),
} as const;

/** Writes the span of kind CLIENT of an attempt (semantic conventions of OpenTelemetry for HTTP, "HTTP client"). */
export function writeAttemptSpan(
  to: SpanWriter,
  request: TracedRequest,
  note: AttemptNote,
  {
    identity,
    index,
    offsetMs,
  }: { readonly identity: TraceIdentity; readonly index: number; readonly offsetMs: number },
): void {
  const { endpoint, status, error, isReused } = note;
  const scheme = endpoint.tls === undefined ? "http" : "https";
  const authority = request.upstreamAuthority ?? request.authority;
  const failure = error ?? (status >= 400 ? String(status) : undefined);
  const startMs = note.startedAtMs + offsetMs;
  to.open(identity, {
    spanId: note.spanId,
    parentId: identity.spanId,
    isParentRemote: false,
    kind: "client",
    name: methodName(request.method),
    startMs,
    endMs: startMs + note.durationMs,
  });
  writeMethod(to, request.method);
  to.attribute(names.url, `${scheme}://${authority}${request.path}`);
  to.attribute(names.serverAddress, endpoint.host);
  to.attribute(names.serverPort, endpoint.port);
  to.attribute(names.protocol, "http");
  to.attribute(names.version, note.protocol === "http2" ? "2" : "1.1");
  if (index > 0) to.attribute(names.resendCount, index);
  if (status > 0) to.attribute(names.status, status);
  if (isReused !== undefined) to.attribute(names.isReused, isReused);
  if (failure !== undefined) to.attribute(names.errorType, failure);
  to.close(failure === undefined ? undefined : (note.errorText ?? ""));
}
