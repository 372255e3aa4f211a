import { type AccessFieldName, usualAccessFields } from "@svc-gateway/common/values/access-fields.ts";
import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { consoleHead, type LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { cutToLimit, isPlainInJson, jsonString, plainText } from "@svc-gateway/common/telemetry/log-text.ts";
import { timestamp } from "@svc-gateway/common/telemetry/timestamp.ts";
import { memoByName } from "../message/name-memo.ts";
import { consoleFields, jsonFields, plainWord } from "./access-line-fields.ts";
import type { AccessLogPathMode, AccessRecord } from "./access-record.ts";
import { webServerLine } from "./web-server-line.ts";

/** `common` and `combined` are the formats of web servers, whose fields are fixed. */
export type AccessLogFormat = LogFormat | "common" | "combined";

export type AccessLineOptions = {
  readonly format: AccessLogFormat;
  readonly pathMode: AccessLogPathMode;
  readonly target: string;
  /** For `json` and `console`. */
  readonly fields: readonly AccessFieldName[];
};

/**
 * Makes the function that composes a line. The text of the usual fields is put together by hand, of few pieces: this runs
 * once per request. What many lines have in common is kept, and only values that need it go through the general JSON encoder.
 */
export function accessLineWriter(options: AccessLineOptions): (record: AccessRecord) => string {
  const { format, pathMode, target, fields } = options;
  switch (format) {
    case "common":
    case "combined":
      return webServerLine(format, pathMode);
    case "json":
      return jsonWriter(pathMode, target, fields);
    default:
      return consoleWriter(pathMode, fields, () =>
        consoleHead(Date.now(), "info", target, format === "terminal"),
      );
  }
}

/** Lines with all usual fields begin with those. */
function jsonWriter(
  pathMode: AccessLogPathMode,
  target: string,
  fields: readonly AccessFieldName[],
): (record: AccessRecord) => string {
  const further = fields.filter((name) => !usualAccessFields.includes(name));
  if (fields.length - further.length < usualAccessFields.length) {
    const start = lineStart(target, "");
    const chosen = jsonFields(fields, pathMode);
    return (record) => `${start()}${chosen(record)}}\n`;
  }
  const usual = usualJsonWriter(pathMode, target);
  if (further.length === 0) return usual;
  const added = jsonFields(further, pathMode);
  return (record) => `${usual(record).slice(0, -2)}${added(record)}}\n`;
}

/** The beginning of a line up to its message, and what follows that; the same text within a millisecond. */
function lineStart(target: string, next: string): () => string {
  const rest = `","level":"INFO","target":${JSON.stringify(target)},"message":"request"${next}`;
  let startMs = -1;
  let start = "";
  return () => {
    const nowMs = Date.now();
    if (nowMs !== startMs) {
      startMs = nowMs;
      start = inOnePiece(`{"timestamp":"${timestamp(nowMs)}${rest}`);
    }
    return start;
  };
}

/** Quotes of values that differ from line to line belong to the texts around them: fewer pieces make a line. */
function usualJsonWriter(pathMode: AccessLogPathMode, target: string): (record: AccessRecord) => string {
  const hasPath = pathMode !== "none";
  const start = lineStart(target, ',"host":"');
  const method = memo((value) => `","method":${text(value)}${hasPath ? ',"path":"' : ""}`);
  const status = statusTexts(hasPath ? '","status":' : ',"status":');
  const route = routeTexts();
  const address = memo((value) => `${text(value)},"duration_ms":`);
  const client = memo((value) => `,"mirror":false,"client_ip":${text(value)},"attempts":`);
  return (record) => {
    const path = hasPath ? quotable(pathMode === "full" ? record.path : record.pattern) : "";
    const { error, reason, detail } = record;
    const beforeSent = `${start()}${quotable(record.host)}${method(record.method)}${path}${status(record.status)}${route(record.routeId, record.upstream)}${address(record.upstreamAddr)}${Math.round(record.durationMs)},"bytes_sent":${record.bytesSent}`;
    const failure =
      error === undefined ? "" : `,"error":${text(error)}${reasonName(reason)}${detailText(detail)}`;
    const from =
      record.mirror === true
        ? `,"mirror":true,"client_ip":${text(record.clientIp)},"attempts":`
        : client(record.clientIp);
    const end = record.attempts === 1 ? "1}\n" : `${record.attempts}}\n`;
    return failure === "" ? beforeSent + from + end : beforeSent + failure + from + end;
  };
}

/** The text of a status behind `before`; statuses have three digits, so that few are kept. */
function statusTexts(before: string): (status: number) => string {
  const known = new Map<number, string>();
  return (status) => {
    let found = known.get(status);
    if (found === undefined) known.set(status, (found = `${before}${status}`));
    return found;
  };
}

/** The texts of routes with the upstream of their last line, which is nearly always the same. */
function routeTexts(): (routeId: string, upstream: string) => string {
  const toText = (routeId: string, upstream: string): string =>
    `,"route_id":${text(routeId)},"upstream":${text(upstream)},"upstream_addr":`;
  const last = memoByName((): { upstream: string; text: string } => ({ upstream: "", text: "" }), memoLimits);
  return (routeId, upstream) => {
    const kept = last(routeId);
    if (kept.text === "" || kept.upstream !== upstream) {
      kept.upstream = upstream;
      kept.text = inOnePiece(toText(routeId, upstream));
    }
    return kept.text;
  };
}

function consoleWriter(
  pathMode: AccessLogPathMode,
  fields: readonly AccessFieldName[],
  head: () => string,
): (record: AccessRecord) => string {
  const isUsual = usualAccessFields.every((name) => fields.includes(name));
  const named = consoleFields(
    isUsual ? fields.filter((name) => !usualAccessFields.includes(name)) : fields,
    pathMode,
  );
  if (!isUsual) return (record) => `${head()}${named(record)}\n`;
  return (record) => {
    const path = pathMode === "none" ? "-" : pathMode === "full" ? record.path : record.pattern;
    let line = `${head()} ${plainWord(record.method)} ${plainWord(record.host)} ${plainWord(path)}`;
    line += ` ${record.status} ${Math.round(record.durationMs)}ms ${record.bytesSent}B route_id=${plainWord(record.routeId)}`;
    line += ` upstream=${plainWord(record.upstream)} upstream_addr=${plainWord(record.upstreamAddr)}`;
    line += ` client_ip=${plainWord(record.clientIp)} attempts=${record.attempts}`;
    if (record.error !== undefined) line += ` error=${JSON.stringify(plainText(record.error))}`;
    if (record.reason !== undefined) line += ` reason=${record.reason}`;
    if (record.detail !== undefined)
      line += ` detail=${JSON.stringify(plainText(cutToLimit(record.detail)))}`;
    return `${line}${record.mirror === true ? " mirror=true" : ""}${named(record)}\n`;
  };
}

const reasonName = (reason: RefusalCode | undefined): string =>
  reason === undefined ? "" : `,"reason":"${reason}"`;

const detailText = (detail: string | undefined): string =>
  detail === undefined ? "" : `,"detail":${text(detail)}`;

function text(value: string): string {
  return jsonString(cutToLimit(value));
}

/** A value as it is in JSON, without its quotes. */
function quotable(value: string): string {
  const cut = cutToLimit(value);
  return isPlainInJson(cut) ? cut : jsonString(cut).slice(1, -1);
}

/** Longer values, such as those of clients, are rendered for each line. */
const memoLimits = { maxLength: 256, maxNames: 1_024 };

/** Remembers the text of recent values. */
const memo = (toText: (value: string) => string): ((value: string) => string) =>
  memoByName((value) => inOnePiece(toText(value)), memoLimits);

/** A text that was put together is a tree until it is read, and kept ones are read for each line. */
const inOnePiece = (tree: string): string => Buffer.from(tree).toString();
