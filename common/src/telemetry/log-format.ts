import type { LogLevel, LogFields } from "./log-level.ts";
import { jsonString, plainText } from "./log-text.ts";
import { loggable } from "./redaction.ts";
import { timestamp } from "./timestamp.ts";

/** `json` writes one object per line, `console` one readable line. */
export type LogFormat = "json" | "console";

export const logFormats: readonly LogFormat[] = ["json", "console"];

export type LogEvent = {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: LogLevel;
  readonly target: string;
  readonly message: string;
  readonly fields: LogFields;
};

/** One event as one line, newline included. */
export function formatEvent(event: LogEvent, format: LogFormat): string {
  return format === "json" ? jsonLine(event) : consoleLine(event);
}

const reservedNames: ReadonlySet<string> = new Set(["timestamp", "level", "target", "message"]);

function jsonLine({ time, level, target, message, fields }: LogEvent): string {
  let line = `{"timestamp":"${timestamp(time)}","level":"${level.toUpperCase()}","target":${jsonString(target)}`;
  line += `,"message":${jsonString(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    const json = JSON.stringify(loggable(name, value));
    if (json !== undefined) line += `,${jsonString(reservedNames.has(name) ? `${name}_` : name)}:${json}`;
  }
  return `${line}}\n`;
}

function consoleLine({ time, level, target, message, fields }: LogEvent): string {
  let line = `${timestamp(time)} ${level.toUpperCase().padEnd(5)} ${plainText(target)}: ${plainText(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    const safe = loggable(name, value);
    if (safe !== undefined) line += ` ${plainText(name)}=${consoleValue(safe)}`;
  }
  return `${line}\n`;
}

function consoleValue(value: unknown): string {
  if (typeof value === "string")
    return /^[\w./:@*+-]+$/.test(value) ? value : plainText(JSON.stringify(value));
  return plainText(JSON.stringify(value));
}
