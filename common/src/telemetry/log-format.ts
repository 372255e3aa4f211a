import { styleText } from "node:util";
import type { LogLevel, LogFields } from "./log-level.ts";
import { jsonString, jsonText, plainText } from "./log-text.ts";
import { loggable } from "./redaction.ts";
import { timestamp } from "./timestamp.ts";

/** `json` writes one object per line, `console` one readable line, `terminal` the same with colours and local times. */
export type LogFormat = "json" | "console" | "terminal";

/** The values of `--log-format`; with `auto`, the format depends on the destination of the log. */
export const logFormatChoices = ["auto", "json", "console"] as const;

/** The destination of the log. */
export type LogDestination = { readonly isTerminal: boolean; readonly hasColours: boolean };

/** Returns the format for a choice: JSON is for programs, readable lines are for people at a terminal. */
export function logFormatFor(
  choice: (typeof logFormatChoices)[number],
  { isTerminal, hasColours }: LogDestination,
): LogFormat {
  if (choice === "json" || (choice === "auto" && !isTerminal)) return "json";
  return hasColours ? "terminal" : "console";
}

export type LogEvent = {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly level: LogLevel;
  readonly target: string;
  readonly message: string;
  readonly fields: LogFields;
};

/** Returns one event as one line, including the newline. */
export function formatEvent(event: LogEvent, format: LogFormat): string {
  return format === "json" ? jsonLine(event) : consoleLine(event, format === "terminal");
}

const reservedNames: ReadonlySet<string> = new Set(["timestamp", "level", "target", "message"]);

function jsonLine({ time, level, target, message, fields }: LogEvent): string {
  let line = `{"timestamp":"${timestamp(time)}","level":"${level.toUpperCase()}","target":${jsonString(target)}`;
  line += `,"message":${jsonString(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    const json = jsonText(loggable(name, value));
    if (json !== undefined) line += `,${jsonString(reservedNames.has(name) ? `${name}_` : name)}:${json}`;
  }
  return `${line}}\n`;
}

function consoleLine({ time, level, target, message, fields }: LogEvent, hasColours: boolean): string {
  let line = `${consoleHead(time, level, plainText(target), hasColours)} ${plainText(message)}`;
  for (const [name, value] of Object.entries(fields)) {
    const safe = loggable(name, value);
    if (safe === undefined) continue;
    const left = `${plainText(name)}=`;
    line += ` ${hasColours ? dim(left) : left}${consoleValue(safe)}`;
  }
  return `${line}\n`;
}

/** The beginning of a readable line: time, level and target. */
export function consoleHead(time: number, level: LogLevel, target: string, hasColours: boolean): string {
  const name = level.toUpperCase().padEnd(5);
  if (!hasColours) return `${timestamp(time)} ${name} ${target}:`;
  return `${dim(localTime(time))} ${styleText(colours[level], name, unconditional)} ${dim(`${target}:`)}`;
}

const colours = { error: "red", warn: "yellow", info: "green", debug: "blue", trace: "dim" } as const;

/** Always adds colours: the destination of the log has already decided whether there are any. */
const unconditional = { validateStream: false } as const;

const dim = (text: string): string => styleText("dim", text, unconditional);

/** Formats a time as in `13:05:09.042`, in the time zone of the process. */
function localTime(time: number): string {
  const date = new Date(time);
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) =>
    String(part).padStart(2, "0"),
  );
  return `${hours}:${minutes}:${seconds}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

function consoleValue(value: unknown): string {
  if (typeof value === "string")
    return /^[\w./:@*+-]+$/.test(value) ? value : plainText(JSON.stringify(value));
  return plainText(JSON.stringify(value));
}
