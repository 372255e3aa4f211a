import { type AccessFieldName, usualAccessFields } from "@svc-gateway/common/values/access-fields.ts";
import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { consoleHead, type LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import { cutToLimit, isPlainInJson, jsonString, plainText } from "@svc-gateway/common/telemetry/log-text.ts";
import { timestamp } from "@svc-gateway/common/telemetry/timestamp.ts";
import { memoByName } from "../message/name-memo.ts";
import { consoleFields, jsonFields, plainWord } from "./access-line-fields.ts";
import type { AccessLogPathMode, AccessRecord } from "./access-record.ts";
import { webServerLine } from "./web-server-line.ts";

/** The formats of lines; `common` and `combined` are those of web servers, with fixed fields. */
export type AccessLogFormat = LogFormat | "common" | "combined";

export type AccessLineOptions = {
  readonly format: AccessLogFormat;
  readonly pathMode: AccessLogPathMode;
  readonly target: string;
  /** The fields of the line; only for the formats of `LogFormat`. */
  readonly fields: readonly AccessFieldName[];
};

/**
 * Creates the function that composes a line. It runs once per request, so the usual fields are concatenated by hand,
 * from few pieces. Texts that many lines share are remembered, and only values that need it pass through the general
 * JSON encoder.
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

/** Creates a writer of JSON lines. If all usual fields are chosen, lines begin with them. */
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

/** Creates a function for the start of a line up to its message and `next`; the text is reused within a millisecond. */
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

/** Creates a writer of the usual fields. Quotes around varying values belong to the fixed texts, for fewer pieces. */
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

/** Creates a function for `before` and a status, which remembers its results: there are few three-digit statuses. */
function statusTexts(before: string): (status: number) => string {
  const known = new Map<number, string>();
  return (status) => {
    let found = known.get(status);
    if (found === undefined) known.set(status, (found = `${before}${status}`));
    return found;
  };
}

/** Creates a function for the texts of routes, remembered with the upstream of the last line, which rarely differs. */
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

/** Encodes a value as a JSON string without its quotes. */
function quotable(value: string): string {
  const cut = cutToLimit(value);
  return isPlainInJson(cut) ? cut : jsonString(cut).slice(1, -1);
}

/** The limits of the memos; longer values, such as those of clients, are encoded for each line. */
const memoLimits = { maxLength: 256, maxNames: 1_024 };

/** Remembers the text of recent values. */
const memo = (toText: (value: string) => string): ((value: string) => string) =>
  memoByName((value) => inOnePiece(toText(value)), memoLimits);

/** Flattens a string: V8 represents a concatenation as a tree, which is slow for a text that is read for each line. */
const inOnePiece = (tree: string): string => Buffer.from(tree).toString();
