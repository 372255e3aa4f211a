/** Writers for the individual fields of access-log lines, for lines that do not have the usual set of fields. */
import type { AccessFieldName } from "@svc-gateway/common/values/access-fields.ts";
import { cutToLimit, jsonString, plainText } from "@svc-gateway/common/telemetry/log-text.ts";
import { maskText } from "@svc-gateway/common/telemetry/redaction.ts";
import type { AccessLogPathMode, AccessRecord } from "./access-record.ts";

/** The value of a field; undefined if the line does not have the field. */
type FieldValue = string | number | boolean | undefined;

type FieldReaders = { readonly [Name in AccessFieldName]: (record: AccessRecord) => FieldValue };

const readersOf = (pathMode: AccessLogPathMode): FieldReaders => ({
  host: ({ host }) => host,
  method: ({ method }) => method,
  path: ({ path, pattern }) => (pathMode === "none" ? undefined : pathMode === "full" ? path : pattern),
  status: ({ status }) => status,
  route_id: ({ routeId }) => routeId,
  upstream: ({ upstream }) => upstream,
  upstream_addr: ({ upstreamAddr }) => upstreamAddr,
  duration_ms: ({ durationMs }) => Math.round(durationMs),
  bytes_sent: ({ bytesSent }) => bytesSent,
  error: ({ error }) => error,
  reason: ({ reason }) => reason,
  detail: ({ detail }) => detail,
  mirror: ({ mirror }) => mirror === true,
  client_ip: ({ clientIp }) => clientIp,
  attempts: ({ attempts }) => attempts,
  retries: ({ attempts }) => Math.max(0, attempts - 1),
  request_id: ({ details }) => maskText(details?.requestId ?? ""),
  trace_id: ({ details }) => details?.traceId ?? "",
  listener: ({ details }) => details?.listener,
  protocol: ({ details }) => details?.protocol ?? "",
  user_agent: ({ details }) => maskText(details?.userAgent ?? ""),
  referer: ({ details }) => maskText(refererOf(details?.referer ?? "")),
  bytes_received: ({ details }) => details?.bytesReceived,
  upstream_connect_ms: ({ details }) => inMicroseconds(details?.connectMs),
  upstream_first_byte_ms: ({ details }) => inMicroseconds(details?.firstByteMs),
  upstream_ms: ({ details }) => inMicroseconds(details?.attemptMs),
  tls_version: ({ details }) => details?.tlsVersion ?? "",
  tls_server_name: ({ details }) => details?.tlsServerName ?? "",
});

/** A referring URL without the parts that can contain secrets: user information, query and fragment. */
export function refererOf(value: string): string {
  const end = value.search(/[?#]/);
  return (end < 0 ? value : value.slice(0, end)).replace(/^([a-z][a-z\d+.-]*:)?\/\/[^/]*@/i, "$1//");
}

const inMicroseconds = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : Math.round(milliseconds * 1000) / 1000;

/** Creates a writer of `,"name":value` for each field. */
export function jsonFields(
  names: readonly AccessFieldName[],
  pathMode: AccessLogPathMode,
): (record: AccessRecord) => string {
  return fieldWriter(
    names,
    pathMode,
    (name) => `,"${name}":`,
    (value) => jsonString(cutToLimit(value)),
  );
}

/** Creates a writer of ` name=value` for each field. */
export function consoleFields(
  names: readonly AccessFieldName[],
  pathMode: AccessLogPathMode,
): (record: AccessRecord) => string {
  return fieldWriter(names, pathMode, (name) => ` ${name}=`, plainWord);
}

function fieldWriter(
  names: readonly AccessFieldName[],
  pathMode: AccessLogPathMode,
  toName: (name: string) => string,
  toText: (value: string) => string,
): (record: AccessRecord) => string {
  const readers = readersOf(pathMode);
  const fields = names.map((name) => ({ name: toName(name), read: readers[name] }));
  return (record) => {
    let line = "";
    for (const { name, read } of fields) {
      const value = read(record);
      if (value !== undefined) line += name + (typeof value === "string" ? toText(value) : String(value));
    }
    return line;
  };
}

/** Formats a word of the console line: `-` if it is empty, quoted if it contains white space or quotes. */
export function plainWord(value: string): string {
  if (value === "") return "-";
  const cut = cutToLimit(value);
  return /[\s"]/.test(cut) ? plainText(JSON.stringify(cut)) : plainText(cut);
}
