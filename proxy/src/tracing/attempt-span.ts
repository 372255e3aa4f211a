import type { TracedRequest } from "../exchange/traced-request.ts";
import type { AttemptNote } from "../http/upstream-notes.ts";
import { methodAttributes, methodName } from "./request-span.ts";
import { bounded, type SpanRecord, type TraceIdentity } from "./span-record.ts";

/** The span of kind CLIENT of an attempt (semantic conventions of OpenTelemetry for HTTP, "HTTP client"). */
export function attemptSpan(
  request: TracedRequest,
  note: AttemptNote,
  {
    identity,
    index,
    offsetMs,
  }: { readonly identity: TraceIdentity; readonly index: number; readonly offsetMs: number },
): SpanRecord {
  const { endpoint, status, error } = note;
  const scheme = endpoint.tls === undefined ? "http" : "https";
  const authority = request.upstreamAuthority ?? request.authority;
  const failure = error ?? (status >= 400 ? String(status) : undefined);
  const startMs = note.startedAtMs + offsetMs;
  return {
    spanId: note.spanId,
    parentId: identity.spanId,
    isParentRemote: false,
    kind: "client",
    name: methodName(request.method),
    startMs,
    endMs: startMs + note.durationMs,
    attributes: {
      ...methodAttributes(request.method),
      "url.full": bounded(`${scheme}://${authority}${request.path}`),
      "server.address": endpoint.host,
      "server.port": endpoint.port,
      "network.protocol.name": "http",
      "network.protocol.version": note.protocol === "http2" ? "2" : "1.1",
      ...(index > 0 && { "http.request.resend_count": index }),
      ...(status > 0 && { "http.response.status_code": status }),
      ...(note.isReused !== undefined && { "svc_gateway.upstream.connection_reused": note.isReused }),
      ...(failure !== undefined && { "error.type": failure }),
    },
    error: failure === undefined ? undefined : (note.errorText ?? ""),
  };
}
