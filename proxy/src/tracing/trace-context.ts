import type { Fields } from "../message/fields.ts";

/** The trace that a request says it belongs to (W3C Trace Context, level 2). */
export type TraceContext = {
  /** 32 lower-case hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** The span of the caller: 16 such digits. */
  readonly parentId: string;
  readonly flags: number;
  /** `tracestate` as it is passed on; empty where there is none. */
  readonly state: string;
};

/** The caller has sampled the trace (level 1, 3.2.2.5.1). */
export const sampledFlag = 0x01;
/** The trace id is random (level 2, 3.2.2.5.2). */
export const randomFlag = 0x02;

/** Version, trace id, parent id, flags; later versions may say more behind a dash (3.2.2). */
const form = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const noId = /^0+$/;

/**
 * Reads the context of a request; undefined where there is none, or one that is not well formed in every detail: the request
 * then begins a trace of its own (3.2.4, 4.3).
 */
export function readTraceContext(received: Pick<Fields, "all">): TraceContext | undefined {
  const lines = received.all("traceparent");
  const [line] = lines;
  // More than one is no context, since none of them is known to be the right one.
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

/** Most members (3.3.1.1), and most characters that are passed on (3.3.1.5). */
const maxMembers = 32;
const maxStateLength = 512;
/** Longer members are the first to go where all of them are too long (3.3.1.5). */
const longMember = 128;

const key = /^[a-z\d][a-z\d_\-*/@]{0,255}$/;
const value = /^[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** The members of all lines, joined and bounded; empty where any of them is malformed (3.3.1.3). */
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

/** Reading more than this of a text that a client has sent is not worth it. */
const maxReadLength = 8 * 1024;

function withinLimit(members: readonly string[]): string {
  let kept = members;
  if (kept.join(",").length > maxStateLength) kept = kept.filter(({ length }) => length <= longMember);
  while (kept.join(",").length > maxStateLength) kept = kept.slice(0, -1);
  return kept.join(",");
}

/** The field for the callee, in version 00. */
export const formatTraceParent = (traceId: string, spanId: string, flags: number): string =>
  `00-${traceId}-${spanId}-0${flags}`;
