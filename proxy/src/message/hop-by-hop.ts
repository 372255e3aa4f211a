import { keptFields } from "./fields.ts";
import type { HeaderList } from "./message.ts";
import { connectionNames, protectedNames } from "./protected-names.ts";

const hopByHop = new Set(connectionNames);

/** Fields that a Connection field cannot take away (docs/features/forwarding.md, "Hop-by-hop fields"). */
const protectedFields = new Set(protectedNames);

/** True for fields that no proxy passes on, also where Connection does not name them. Takes a name in any case. */
export function isHopByHop(name: string): boolean {
  switch (name.length) {
    case 2:
    case 7:
    case 10:
    case 17:
      return hopByHop.has(name.toLowerCase()) || isProxyName(name);
    default:
      return isProxyName(name);
  }
}

const isProxyName = (name: string): boolean =>
  name.length > 6 && (name.charCodeAt(0) | 0x20) === 0x70 && name.slice(0, 6).toLowerCase() === "proxy-";

/** The values that nearly every Connection field has. */
const keepAliveOnly: readonly string[] = ["keep-alive"];
const closeOnly: readonly string[] = ["close"];

/** The options of Connection fields in lower case (RFC 9110 7.6.1). */
export function connectionOptions(value: string): readonly string[] {
  if (value === "keep-alive") return keepAliveOnly;
  if (value === "close") return closeOnly;
  return value
    .toLowerCase()
    .split(",")
    .map((option) => option.trim())
    .filter((option) => option !== "");
}

/** Options that say something about the connection and name no field. */
const isSignal = (option: string): boolean =>
  option === "keep-alive" || option === "close" || option === "upgrade";

/** The fields that these Connection options do not name; the same list when they name none. */
export function withoutConnectionOptions(headers: HeaderList, options: readonly string[]): HeaderList {
  if (options.every(isSignal)) return headers;
  const named = new Set(options.filter((option) => !isSignal(option) && !protectedFields.has(option)));
  if (named.size === 0) return headers;
  return keptFields(headers, (name) => !named.has(name.toLowerCase()));
}
