import type { RefusalCode } from "@svc-gateway/common/telemetry/refusals/refusal-reasons.ts";
import { consoleHead, type LogFormat } from "@svc-gateway/common/telemetry/log-format.ts";
import type { LogLevels } from "@svc-gateway/common/telemetry/log-levels.ts";
import type { LogSink } from "@svc-gateway/common/telemetry/log-sink.ts";
import { cutToLimit, jsonString } from "@svc-gateway/common/telemetry/log-text.ts";
import { timestamp } from "@svc-gateway/common/telemetry/timestamp.ts";
import { plainWord } from "./access-line-fields.ts";
import { accessLogTarget } from "./access-log.ts";

/** An ended connection below HTTP, or session of a UDP client (docs/reference/access-log.md, "Connections"). */
export type ConnectionRecord = {
  readonly protocol: "tcp" | "tls" | "udp";
  /** The listener port. */
  readonly listener: number;
  /** The server name of the TLS handshake; empty without one. */
  readonly serverName: string;
  readonly routeId: string;
  /** `<namespace>/<service>`, empty when there was none. */
  readonly upstream: string;
  /** The last endpoint tried, empty when there was none. */
  readonly upstreamAddr: string;
  readonly clientIp: string;
  readonly durationMs: number;
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly attempts: number;
  /** A short fixed text and its code; undefined if the connection has not failed. */
  readonly failure: ConnectionFailure | undefined;
};

export type ConnectionFailure = { readonly error: string; readonly reason: RefusalCode };

/** Writes a line; neither waits nor throws. */
export type ConnectionLog = (record: ConnectionRecord) => void;

export type ConnectionLogOptions = {
  readonly enabled: boolean;
  readonly format: LogFormat;
  readonly levels: LogLevels;
  readonly sink: Pick<LogSink, "write">;
};

/** Creates the log of connections of one worker; undefined if they are not logged. */
export function createConnectionLog(options: ConnectionLogOptions): ConnectionLog | undefined {
  const { sink, format } = options;
  if (!options.enabled) return undefined;
  const passes = options.levels.of(accessLogTarget);
  return (record) => {
    if (!passes("info")) return;
    sink.write(format === "json" ? jsonLine(record) : consoleLine(record, format === "terminal"));
  };
}

const fieldsOf = (record: ConnectionRecord): readonly (readonly [string, string | number])[] => [
  ["protocol", record.protocol],
  ["listener", record.listener],
  ["tls_server_name", record.serverName],
  ["route_id", record.routeId],
  ["upstream", record.upstream],
  ["upstream_addr", record.upstreamAddr],
  ["duration_ms", Math.round(record.durationMs)],
  ["bytes_received", record.bytesReceived],
  ["bytes_sent", record.bytesSent],
  ...(record.failure === undefined
    ? []
    : [["error", record.failure.error] as const, ["reason", record.failure.reason] as const]),
  ["client_ip", record.clientIp],
  ["attempts", record.attempts],
];

const jsonLine = (record: ConnectionRecord): string => {
  let line = `{"timestamp":"${timestamp(Date.now())}","level":"INFO","target":"${accessLogTarget}","message":"connection"`;
  for (const [name, value] of fieldsOf(record))
    line += `,"${name}":${typeof value === "number" ? value : jsonString(cutToLimit(value))}`;
  return `${line}}\n`;
};

const consoleLine = (record: ConnectionRecord, hasColours: boolean): string => {
  let line = `${consoleHead(Date.now(), "info", accessLogTarget, hasColours)} connection`;
  for (const [name, value] of fieldsOf(record))
    line += ` ${name}=${typeof value === "number" ? value : plainWord(value)}`;
  return `${line}\n`;
};
