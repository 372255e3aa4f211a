import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { consoleHead, type LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { cutToLimit, jsonString, plainText } from "@svc-gateway/common/telemetry/log-text.ts";
import { timestamp } from "@svc-gateway/common/telemetry/timestamp.ts";
import { memoByName } from "../message/name-memo.ts";

/** What the `path` field shows: the concrete path, the configured path of the rule, or nothing. */
export type AccessLogPathMode = "full" | "pattern" | "none";

export type AccessLineOptions = {
  readonly format: LogFormat;
  readonly pathMode: AccessLogPathMode;
  readonly target: string;
};

/**
 * Makes the function that composes a line. The text is put together by hand, of few pieces: this runs once per request.
 * What many lines have in common is kept, and only values that need it go through the general JSON encoder.
 */
export function accessLineWriter({
  format,
  pathMode,
  target,
}: AccessLineOptions): (record: AccessRecord) => string {
  return format === "json"
    ? jsonWriter(pathMode, target)
    : consoleWriter(pathMode, target, format === "terminal");
}

function jsonWriter(pathMode: AccessLogPathMode, target: string): (record: AccessRecord) => string {
  const target_ = `","level":"INFO","target":${JSON.stringify(target)},"message":"request","host":`;
  let startMs = -1;
  let start = "";
  const pathName = pathMode === "none" ? "" : ',"path":';
  const method = memo((value) => `,"method":${text(value)}${pathName}`);
  const route = memo((value) => `,"route_id":${text(value)},"upstream":`);
  const address = memo((value) => `,"upstream_addr":${text(value)},"duration_ms":`);
  const upstream = memo(text);
  const client = memo((value) => `,"mirror":false,"client_ip":${text(value)},"attempts":`);
  return (record) => {
    const nowMs = Date.now();
    if (nowMs !== startMs) {
      startMs = nowMs;
      start = inOnePiece(`{"timestamp":"${timestamp(nowMs)}${target_}`);
    }
    const path = pathMode === "none" ? "" : pathMode === "full" ? text(record.path) : text(record.pattern);
    const { error, reason } = record;
    const beforeSent = `${start}${text(record.host)}${method(record.method)}${path},"status":${record.status}${route(record.routeId)}${upstream(record.upstream)}${address(record.upstreamAddr)}${Math.round(record.durationMs)},"bytes_sent":${record.bytesSent}`;
    const failure = error === undefined ? "" : `,"error":${text(error)}${reasonName(reason)}`;
    const from =
      record.mirror === true
        ? `,"mirror":true,"client_ip":${text(record.clientIp)},"attempts":`
        : client(record.clientIp);
    return `${beforeSent}${failure}${from}${record.attempts}}\n`;
  };
}

function consoleWriter(
  pathMode: AccessLogPathMode,
  target: string,
  hasColours: boolean,
): (record: AccessRecord) => string {
  return (record) => {
    const path = pathMode === "none" ? "-" : pathMode === "full" ? record.path : record.pattern;
    const head = consoleHead(Date.now(), "info", target, hasColours);
    let line = `${head} ${plain(record.method)} ${plain(record.host)} ${plain(path)}`;
    line += ` ${record.status} ${Math.round(record.durationMs)}ms ${record.bytesSent}B route_id=${plain(record.routeId)}`;
    line += ` upstream=${plain(record.upstream)} upstream_addr=${plain(record.upstreamAddr)}`;
    line += ` client_ip=${plain(record.clientIp)} attempts=${record.attempts}`;
    if (record.error !== undefined) line += ` error=${JSON.stringify(plainText(record.error))}`;
    if (record.reason !== undefined) line += ` reason=${record.reason}`;
    return record.mirror === true ? `${line} mirror=true\n` : `${line}\n`;
  };
}

const reasonName = (reason: RefusalCode | undefined): string =>
  reason === undefined ? "" : `,"reason":"${reason}"`;

function text(value: string): string {
  return jsonString(cutToLimit(value));
}

/** Longer values, such as those of clients, are rendered for each line. */
const memoLimits = { maxLength: 256, maxNames: 1_024 };

/** Remembers the text of recent values. */
const memo = (toText: (value: string) => string): ((value: string) => string) =>
  memoByName((value) => inOnePiece(toText(value)), memoLimits);

/** A text that was put together is a tree until it is read, and kept ones are read for each line. */
const inOnePiece = (tree: string): string => Buffer.from(tree).toString();

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
  /** The code of `error` (docs/reference/refusals.md). */
  readonly reason?: RefusalCode;
  /** True for a copy sent to a mirror. */
  readonly mirror?: boolean;
  readonly clientIp: string;
  /** Upstream attempts, 0 when no upstream was contacted. */
  readonly attempts: number;
};
