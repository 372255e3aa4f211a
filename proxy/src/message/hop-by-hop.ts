import type { Fields } from "./fields.ts";
import { kindOfName, kindsMask } from "./known-names.ts";
import { protectedNames } from "./protected-names.ts";

/** The fields that no proxy forwards, even if Connection does not name them. */
export const hopByHopKinds = kindsMask(
  "connection",
  "keepAlive",
  "te",
  "transferEncoding",
  "upgrade",
  "hopByHop",
);

/** Fields that a Connection field cannot remove (docs/features/forwarding.md, "Hop-by-hop fields"). */
const protectedFields = new Set(protectedNames);

/** Reports whether a field, whose name is in any case, is a hop-by-hop field. */
export const isHopByHop = (name: string): boolean =>
  ((hopByHopKinds >> kindOfName(name, 0, name.length)) & 1) === 1;

/** The values that nearly every Connection field has. */
const keepAliveOnly: readonly string[] = ["keep-alive"];
const closeOnly: readonly string[] = ["close"];

/** Returns the options in the value of Connection, in lower case (RFC 9110 7.6.1). */
export function connectionOptions(value: string): readonly string[] {
  if (value === "keep-alive") return keepAliveOnly;
  if (value === "close") return closeOnly;
  return value
    .toLowerCase()
    .split(",")
    .map((option) => option.trim())
    .filter((option) => option !== "");
}

/** Reports whether an option concerns the connection itself instead of naming a field. */
const isSignal = (option: string): boolean =>
  option === "keep-alive" || option === "close" || option === "upgrade";

/** Removes the fields that these Connection options name, apart from protected ones. */
export function removeNamedOptions(headers: Fields, options: readonly string[]): void {
  if (options.every(isSignal)) return;
  const named = new Set(options.filter((option) => !isSignal(option) && !protectedFields.has(option)));
  headers.remove(named);
}
