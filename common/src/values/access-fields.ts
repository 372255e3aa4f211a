/** The fields of access-log lines, in the order in which they are written (docs/reference/access-log.md). */

type Declaration = {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  /** Whether lines have the field by default. */
  readonly isUsual: boolean;
  readonly meaning: string;
};

export const accessFields = [
  { name: "host", type: "string", isUsual: true, meaning: "the host of the request" },
  { name: "method", type: "string", isUsual: true, meaning: "the method" },
  {
    name: "path",
    type: "string",
    isUsual: true,
    meaning: "the path without its query, see [Paths](#paths)",
  },
  {
    name: "status",
    type: "integer",
    isUsual: true,
    meaning: "the status of the response; 499 when the client left before it began",
  },
  {
    name: "route_id",
    type: "string",
    isUsual: true,
    meaning: "the route, see [Route identifiers](#route-identifiers); empty when none matched",
  },
  {
    name: "upstream",
    type: "string",
    isUsual: true,
    meaning: "`<namespace>/<service>`; empty when no upstream was chosen",
  },
  {
    name: "upstream_addr",
    type: "string",
    isUsual: true,
    meaning: "the last endpoint tried, as `ip:port`; empty when there was none",
  },
  {
    name: "duration_ms",
    type: "integer",
    isUsual: true,
    meaning:
      "from the head of the request to the end of the response, in milliseconds; over HTTP/1, from the first byte of a head for which the request is refused",
  },
  {
    name: "bytes_sent",
    type: "integer",
    isUsual: true,
    meaning: "bytes of the response body; of an upgraded connection, all bytes sent to the client",
  },
  {
    name: "error",
    type: "string",
    isUsual: true,
    meaning: "a short fixed text; only present when the request failed",
  },
  {
    name: "reason",
    type: "string",
    isUsual: true,
    meaning: "the code of `error`, one of [these](refusals.md); only present with it",
  },
  {
    name: "detail",
    type: "string",
    isUsual: true,
    meaning:
      "what led to `error`: the rule that applied, or what another service did ([where](../features/access-log.md#why-a-request-was-refused)); only present where there is more to say",
  },
  { name: "mirror", type: "boolean", isUsual: true, meaning: "`true` for a mirrored request" },
  {
    name: "client_ip",
    type: "string",
    isUsual: true,
    meaning: "the address of the client, from the PROXY protocol or forwarded headers where they are trusted",
  },
  {
    name: "attempts",
    type: "integer",
    isUsual: true,
    meaning: "upstream attempts; 0 when no upstream was contacted",
  },
  {
    name: "retries",
    type: "integer",
    isUsual: false,
    meaning: "attempts after the first one",
  },
  {
    name: "request_id",
    type: "string",
    isUsual: false,
    meaning:
      "the id of the request, as its backend gets it ([request ids](../features/access-log.md#request-ids)); empty when it has none",
  },
  {
    name: "trace_id",
    type: "string",
    isUsual: false,
    meaning: "the id of the [trace](../features/tracing.md), sampled or not; empty without tracing",
  },
  {
    name: "listener",
    type: "integer",
    isUsual: false,
    meaning: "the listener port, as in the label of metrics",
  },
  {
    name: "protocol",
    type: "string",
    isUsual: false,
    meaning: "`HTTP/1.0`, `HTTP/1.1` or `HTTP/2.0`; empty when it was not read",
  },
  { name: "user_agent", type: "string", isUsual: false, meaning: "`User-Agent` of the request" },
  {
    name: "referer",
    type: "string",
    isUsual: false,
    meaning: "`Referer` of the request without user information, query and fragment",
  },
  {
    name: "bytes_received",
    type: "integer",
    isUsual: false,
    meaning:
      "bytes of the request body that were read; of an upgraded connection, all bytes that the client sent",
  },
  {
    name: "upstream_connect_ms",
    type: "number",
    isUsual: false,
    meaning:
      "from the beginning of the last attempt to its connection, TLS included; near 0 when a connection was reused; only present when there was one",
  },
  {
    name: "upstream_first_byte_ms",
    type: "number",
    isUsual: false,
    meaning:
      "from the beginning of the last attempt to the head of its response; only present when there was one",
  },
  {
    name: "upstream_ms",
    type: "number",
    isUsual: false,
    meaning: "the duration of the last attempt; only present when there was one",
  },
  {
    name: "tls_version",
    type: "string",
    isUsual: false,
    meaning: "`TLSv1.2` or `TLSv1.3`; empty without TLS",
  },
  {
    name: "tls_server_name",
    type: "string",
    isUsual: false,
    meaning: "the server name of the TLS handshake; empty without one",
  },
] as const satisfies readonly Declaration[];

export type AccessFieldName = (typeof accessFields)[number]["name"];

/** The fields that lines have by default. */
export const usualAccessFields: readonly AccessFieldName[] = accessFields
  .filter(({ isUsual }) => isUsual)
  .map(({ name }) => name);

const known: ReadonlySet<string> = new Set(accessFields.map(({ name }) => name));

export const isAccessField = (name: string): name is AccessFieldName => known.has(name);
