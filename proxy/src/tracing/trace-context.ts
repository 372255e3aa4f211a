import type { Fields } from "../message/fields.ts";

/** The trace context of a request (W3C Trace Context, level 2). */
export type TraceContext = {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The id of the caller's span: 16 such digits. */
  readonly parentId: string;
  readonly flags: number;
  /** The `tracestate` to pass on; empty if there is none. */
  readonly state: string;
};

/** The flag of a trace that the caller has sampled (level 1, 3.2.2.5.1). */
export const sampledFlag = 0x01;
/** The flag of a random trace id (level 2, 3.2.2.5.2). */
export const randomFlag = 0x02;

/** Version, trace id, parent id, flags; later versions can append more after a dash (3.2.2). */
const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const noId = /^0+$/;

/**
 * Reads the context of a request; undefined if it has none, or one that is malformed in any detail. The request then
 * starts a new trace (3.2.4, 4.3).
 */
export function readTraceContext(received: Pick<Fields, "all">): TraceContext | undefined {
  const lines = received.all("traceparent");
  const [line] = lines;
  // Several fields are not a valid context, because it is not known which of them is the right one.
  if (line === undefined || lines.length > 1 || line.length > maxParentLength) return undefined;
  const [, version, traceId = "", parentId = "", flags = "", more] = form.exec(line) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (noId.test(traceId) || noId.test(parentId)) return undefined;
  return {
    traceId,
    parentId,
    flags: Number.parseInt(flags, 16) & (sampledFlag | randomFlag),
    state: readTraceState(received.all("tracestate")),
  };
}

const maxParentLength = 256;

/** The maximum number of members (3.3.1.1), and of characters that are passed on (3.3.1.5). */
const maxMembers = 32;
const maxStateLength = 512;
/** Members longer than this are removed first if the total is too long (3.3.1.5). */
const longMember = 128;

const key = /^[a-z\d][a-z\d_\-*/@]{0,255}$/;
const value = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** Joins the members of all lines, within the limits; empty if any member is malformed (3.3.1.3). */
export function readTraceState(lines: readonly string[]): string {
  if (lines.length === 0) return "";
  const text = lines.join(",");
  if (text.length > maxReadLength) return "";
  const members = new Map<string, string>();
  for (const part of text.split(",")) {
    const member = part.replace(/^[ \t]+|[ \t]+$/g, "");
    if (member === "") continue;
    const equals = member.indexOf("=");
    const name = member.slice(0, equals);
    if (equals < 0 || !key.test(name) || !value.test(member.slice(equals + 1))) return "";
    if (members.has(name) || members.size === maxMembers) return "";
    members.set(name, member);
  }
  return withinLimit([...members.values()]);
}

/** The maximum length of `tracestate` to parse; longer ones, which clients control, are ignored. */
const maxReadLength = 8 * 1024;

function withinLimit(members: readonly string[]): string {
  let kept = members;
  if (kept.join(",").length > maxStateLength) kept = kept.filter(({ length }) => length <= longMember);
  while (kept.join(",").length > maxStateLength) kept = kept.slice(0, -1);
  return kept.join(",");
}

/** Formats the field for the callee, in version 00. */
export const formatTraceParent = (traceId: string, spanId: string, flags: number): string =>
  `00-${traceId}-${spanId}-0${flags}`;
