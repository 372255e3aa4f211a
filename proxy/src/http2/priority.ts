import { memoByName } from "../message/name-memo.ts";

/** The priority of a response, as requested by the client (RFC 9218 4). */
export type Priority = {
  /** The urgency, from 0 (sent first) to 7. */
  readonly urgency: number;
  /**
   * True if the response is useful in parts, so that it shares with others instead of preceding those of later
   * requests.
   */
  readonly incremental: boolean;
};

export const ordinaryUrgency = 3;
const maxUrgency = 7;

/** The longest value that is parsed; a longer one is ignored. */
const maxValueLength = 256;

// The grammar of a dictionary (RFC 9651 3.2), without Display Strings.
const key = "[a-z*][a-z0-9_.*-]*";
const number = String.raw`-?\d{1,15}(?:\.\d{1,3})?`;
const text = String.raw`"(?:[ !#-\[\]-~]|\\["\\])*"`;
const token = "[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*";
const bareItem = String.raw`${number}|${text}|${token}|:[A-Za-z0-9+/=]*:|\?[01]|@-?\d{1,15}`;
const parameters = `(?:; *${key}(?:=(?:${bareItem}))?)*`;
const item = `(?:${bareItem})${parameters}`;
const innerList = String.raw`\( *(?:${item}(?: +${item})* *)?\)${parameters}`;
const member = new RegExp(`(${key})(?:=(?:(${bareItem})${parameters}|(${innerList}))|${parameters})`, "y");
const separator = /[ \t]*,[ \t]*/y;

/**
 * Parses a Priority field, or the value of a PRIORITY_UPDATE frame. Returns null for a value that is not a dictionary,
 * which must be ignored. Members that are unknown, or of a wrong type or range, count as absent (RFC 9218 4).
 */
export const readPriority: (value: string) => Priority | null = memoByName(
  (value) => (value.length > maxValueLength ? null : parse(value.replace(/^ +| +$/g, ""))),
  { maxLength: 64, maxNames: 256 },
);

function parse(value: string): Priority | null {
  let urgency = ordinaryUrgency;
  let incremental = false;
  for (let at = 0; at < value.length || at > 0;) {
    member.lastIndex = at;
    const found = member.exec(value);
    if (found === null) return null;
    const [, name, bare, list] = found;
    if (name === "u") urgency = urgencyOf(bare);
    else if (name === "i") incremental = list === undefined && (bare === undefined || bare === "?1");
    at += found[0].length;
    if (at === value.length) break;
    separator.lastIndex = at;
    const between = separator.exec(value);
    if (between === null) return null;
    at += between[0].length;
  }
  return { urgency, incremental };
}

function urgencyOf(bare: string | undefined): number {
  if (bare === undefined || !/^-?\d+$/.test(bare)) return ordinaryUrgency;
  const urgency = Number(bare);
  return urgency >= 0 && urgency <= maxUrgency ? urgency : ordinaryUrgency;
}
