import { shown } from "../values/clip.ts";
import { z } from "zod";
import { parseEndpoint } from "../values/endpoint.ts";
import { isToken, parseHeaderName, parseHeaderValue } from "../values/header-name.ts";
import { splitCsv, splitLines } from "../values/list.ts";
import { ok, problem, type Result } from "../values/result.ts";
import type { Warn } from "./definition.ts";

/** A header field; the value is in wire form, one character per octet. */
export const headerFieldSchema = z.object({ name: z.string(), value: z.string() });

/**
 * Changes to the fields of one direction, applied in this order: `set` replaces all fields of the name, `add` appends a
 * field line, `remove` deletes fields, including those that `set` and `add` inserted. Names are compared without case.
 * Equivalent to Gateway API's HTTPHeaderFilter.
 */
export const headerModifierSchema = z.object({
  set: z.array(headerFieldSchema).readonly().optional(),
  add: z.array(headerFieldSchema).readonly().optional(),
  remove: z.array(z.string()).readonly().optional(),
});

export type HeaderField = Readonly<z.infer<typeof headerFieldSchema>>;
export type HeaderModifier = Readonly<z.infer<typeof headerModifierSchema>>;

/** The values of the three annotations of a direction; `invalid` for a list of fields that does not parse. */
type HeaderChanges = {
  readonly set: readonly HeaderField[] | "invalid" | undefined;
  readonly add: readonly HeaderField[] | "invalid" | undefined;
  readonly remove: readonly string[] | undefined;
};

/**
 * Returns the changes of one direction. If a list of fields of the Ingress does not parse, the defaults of the class
 * apply instead of its three annotations: a mistake must not let fields pass that the class removes.
 */
export function headerModifierOf(
  own: HeaderChanges,
  ofClass: () => HeaderChanges,
): HeaderModifier | undefined {
  const {
    set = [],
    add = [],
    remove = [],
  } = own.set === "invalid" || own.add === "invalid" ? ofClass() : own;
  // Defaults of a class that do not parse are absent.
  if (set === "invalid" || add === "invalid") return undefined;
  if (set.length + add.length + remove.length === 0) return undefined;
  return {
    ...(set.length > 0 && { set }),
    ...(add.length > 0 && { add }),
    ...(remove.length > 0 && { remove }),
  };
}

/** Fields that belong to one connection, frame the message, or are set by the gateway alone (RFC 9110 7.6.1). */
const untouchable = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "x-ssl-client-cert",
]);

/**
 * Reads `Name: Value` lines. One invalid line fails the whole value; fields that no modifier may change are omitted
 * with a warning. See docs/features/request-headers.md.
 */
export function parseHeaderFields(text: string, warn: Warn): Result<readonly HeaderField[]> {
  const fields: HeaderField[] = [];
  for (const line of splitLines(text)) {
    const field = parseHeaderField(line);
    if (!field.ok) return field;
    if (mayTouch(field.value.name, warn)) fields.push(field.value);
  }
  return ok(fields);
}

function parseHeaderField(line: string): Result<HeaderField> {
  const colon = line.indexOf(":");
  if (colon < 0) {
    return problem(`${JSON.stringify(shown(line))} has no colon`, "Name: Value on each line");
  }
  const name = parseHeaderName(line.slice(0, colon));
  if (!name.ok) return name;
  const value = parseHeaderValue(line.slice(colon + 1));
  return value.ok ? ok({ name: name.value, value: value.value }) : value;
}

/** Reads comma-separated header names; fields that no modifier may change are omitted with a warning. */
export function parseHeaderNames(text: string, warn: Warn): Result<readonly string[]> {
  const items = splitCsv(text);
  if (items.length === 0)
    return problem("the list is empty", "names of header fields, with commas between them");
  const names: string[] = [];
  for (const item of items) {
    const name = parseHeaderName(item);
    if (!name.ok) return name;
    if (mayTouch(name.value, warn)) names.push(name.value);
  }
  return ok(names);
}

/** Whether modifiers must not change fields of this name. */
export const isUntouchable = (name: string): boolean => untouchable.has(name.toLowerCase());

function mayTouch(name: string, warn: Warn): boolean {
  if (!isUntouchable(name)) return true;
  warn(`${name} cannot be changed and is left out`);
  return false;
}

/**
 * Whether an authentication check may set a header field upstream or remove it from a request: fields that route or
 * frame the request are excluded.
 */
export const mayBeIdentityHeader = (name: string): boolean =>
  name.length <= 256 &&
  isToken(name) &&
  !untouchable.has(name.toLowerCase()) &&
  name.toLowerCase() !== "host";

/** Fields that describe the accompanying body. */
const describing = new Set(["content-encoding", "content-range", "content-type"]);

/** Whether an authentication check may add a header field to a response that it did not write. */
export const mayBeClientHeader = (name: string): boolean =>
  mayBeIdentityHeader(name) && !describing.has(name.toLowerCase());

const isHost = ({ name }: { readonly name: string }): boolean => name.toLowerCase() === "host";

/** Like `parseHeaderFields`, but a Host must be a host with an optional port (RFC 9110 7.2). */
export function parseHeaderFieldsToSet(text: string, warn: Warn): Result<readonly HeaderField[]> {
  const fields = parseHeaderFields(text, warn);
  if (!fields.ok) return fields;
  for (const { value } of fields.value.filter(isHost)) {
    const host = parseEndpoint(value, 80);
    if (!host.ok) return problem(`${JSON.stringify(shown(value))} is no value for Host`, "host[:port]");
  }
  return fields;
}

/**
 * Like `parseHeaderFields`, for fields to append: a request has only one Host, so another is omitted with a warning.
 */
export function parseHeaderFieldsToAdd(text: string, warn: Warn): Result<readonly HeaderField[]> {
  const fields = parseHeaderFields(text, warn);
  if (!fields.ok || !fields.value.some(isHost)) return fields;
  warn("Host can be set but not added, and is left out");
  return ok(fields.value.filter((field) => !isHost(field)));
}

/** Like `parseHeaderNames`, for a request, from which Host cannot be removed. */
export function parseHeaderNamesToRemove(text: string, warn: Warn): Result<readonly string[]> {
  const names = parseHeaderNames(text, warn);
  if (!names.ok || !names.value.some((name) => isHost({ name }))) return names;
  warn("Host can be set but not removed, and is left out");
  return ok(names.value.filter((name) => !isHost({ name })));
}
