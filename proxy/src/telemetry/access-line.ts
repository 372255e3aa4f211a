import type { LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { cutToLimit, jsonString, plainText } from "@svc-gateway/common/telemetry/log-text.ts";
import { timestamp } from "@svc-gateway/common/telemetry/timestamp.ts";

/** What the `path` field shows: the concrete path, the configured path of the rule, or nothing. */
export type AccessLogPathMode = "full" | "pattern" | "none";

export type AccessLineOptions = {
  readonly format: LogFormat;
  readonly pathMode: AccessLogPathMode;
  readonly target: string;
};

/**
 * Makes the function that composes a line. The text is put together by hand: this runs once per request, and only
 * values that need it go through the general JSON encoder.
 */
export function accessLineWriter({
  format,
  pathMode,
  target,
}: AccessLineOptions): (record: AccessRecord) => string {
  return format === "json" ? jsonWriter(pathMode, target) : consoleWriter(pathMode, target);
}

function jsonWriter(pathMode: AccessLogPathMode, target: string): (record: AccessRecord) => string {
  const start = `","level":"INFO","target":${JSON.stringify(target)},"message":"request","host":`;
  return (record) => {
    let line = `{"timestamp":"${timestamp(Date.now())}${start}${text(record.host)},"method":${text(record.method)}`;
    if (pathMode !== "none") line += `,"path":${text(pathMode === "full" ? record.path : record.pattern)}`;
    line += `,"status":${record.status},"route_id":${text(record.routeId)},"upstream":${text(record.upstream)}`;
    line += `,"upstream_addr":${text(record.upstreamAddr)},"duration_ms":${Math.round(record.durationMs)}`;
    line += `,"bytes_sent":${record.bytesSent}`;
    if (record.error !== undefined) line += `,"error":${text(record.error)}`;
    return `${line},"mirror":${record.mirror === true},"client_ip":${text(record.clientIp)},"attempts":${record.attempts}}\n`;
  };
}

function consoleWriter(pathMode: AccessLogPathMode, target: string): (record: AccessRecord) => string {
  return (record) => {
    const path = pathMode === "none" ? "-" : pathMode === "full" ? record.path : record.pattern;
    let line = `${timestamp(Date.now())} INFO  ${target}: ${plain(record.method)} ${plain(record.host)} ${plain(path)}`;
    line += ` ${record.status} ${Math.round(record.durationMs)}ms ${record.bytesSent}B route_id=${plain(record.routeId)}`;
    line += ` upstream=${plain(record.upstream)} upstream_addr=${plain(record.upstreamAddr)}`;
    line += ` client_ip=${plain(record.clientIp)} attempts=${record.attempts}`;
    if (record.error !== undefined) line += ` error=${JSON.stringify(plainText(record.error))}`;
    return record.mirror === true ? `${line} mirror=true\n` : `${line}\n`;
  };
}

function text(value: string): string {
  return jsonString(cutToLimit(value));
}

/** A word of the console line: `-` for nothing, quoted when it would not be one word. */
function plain(value: string): string {
  if (value === "") return "-";
  const cut = cutToLimit(value);
  return /[\s"]/.test(cut) ? plainText(JSON.stringify(cut)) : plainText(cut);
}

/** One finished request (docs/reference/access-log.md). */
export type AccessRecord = {
  readonly host: string;
  readonly method: string;
  /** The concrete normalised path, without query. */
  readonly path: string;
  /** The path of the matched rule as it is configured, `/` without a match. */
  readonly pattern: string;
  readonly status: number;
  /** Empty when no route matched. */
  readonly routeId: string;
  /** `<namespace>/<service>`, empty when the request went to no upstream. */
  readonly upstream: string;
  /** `ip:port` of the last endpoint tried, empty when there was none. */
  readonly upstreamAddr: string;
  readonly durationMs: number;
  /** Bytes of the response body, or of what went to the client over an upgraded connection. */
  readonly bytesSent: number;
  /** A short fixed text; present only on failure. */
  readonly error?: string;
  /** True for a copy sent to a mirror. */
  readonly mirror?: boolean;
  readonly clientIp: string;
  /** Upstream attempts, 0 when no upstream was contacted. */
  readonly attempts: number;
};
