import { cutToLimit } from "./log-text.ts";

/** The replacement for a secret in a log line. */
export const redacted = "[redacted]";

/**
 * Names whose values are always secret: credentials, session material and keys. Names that merely refer to a Kubernetes
 * Secret (`secret: "shop/tls"`) are not among them.
 */
const secretName =
  /^(proxy[-_]?)?authorization$|cookie|passw(or)?d|^token$|[-_](token|password)$|key[-_]?pem$|[a-z]Token$|private[-_]?key|tls[.-]key|client[-_]?secret|api[-_]?key|session[-_]?key|ticket[-_]?keys|credentials?$/i;

const secretText: readonly RegExp[] = [
  // A private key in PEM, to its end or to the end of the text.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // HTTP credentials (RFC 9110 section 11.4).
  /\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi,
  // A JSON Web Token (RFC 7519): three base64url parts, the first of which begins with `{"`.
  /\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g,
  // Hashes of htpasswd entries.
  /\$2[aby]\$\d\d\$[./\w]{53}|\{SHA\}[\w+/=]{20,}/g,
];

const maxDepth = 6;
const maxItems = 100;

/**
 * Converts the value of a log field to a loggable one: secrets are masked by name and by form, long texts truncated,
 * errors reduced to message, code and stack, binary data to its length, cycles and deep nesting truncated. Undefined
 * means that the field is omitted. This is the last line of defence; code must not pass secrets to the logger in the
 * first place.
 */
export function loggable(name: string, value: unknown, depth: number = 0): unknown {
  if (value === undefined || typeof value === "function" || typeof value === "symbol") return undefined;
  if (secretName.test(name)) return redacted;
  if (typeof value === "string") return maskText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "invalid date" : value.toISOString();
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  if (depth >= maxDepth) return "[nested too deep]";
  if (value instanceof Error) return loggableError(value, depth);
  if (value instanceof Set || Array.isArray(value))
    return Array.from(value as Iterable<unknown>)
      .slice(0, maxItems)
      .map((item) => loggable("", item, depth + 1) ?? null);
  const entries: Iterable<[unknown, unknown]> =
    value instanceof Map ? value.entries() : Object.entries(value);
  return Object.fromEntries(
    Array.from(entries)
      .slice(0, maxItems)
      .map(([key, item]) => [String(key), loggable(String(key), item, depth + 1)]),
  );
}

function loggableError(error: Error, depth: number): unknown {
  const { name, message, stack, cause } = error;
  return {
    name,
    message: maskText(message),
    ...("code" in error && { code: loggable("code", error.code, depth + 1) }),
    ...(stack !== undefined && { stack: maskText(stack) }),
    ...(cause !== undefined && { cause: loggable("cause", cause, depth + 1) }),
  };
}

/** Returns a loggable text: truncated, and with secrets masked by their form. */
export function maskText(text: string): string {
  const cut = cutToLimit(text);
  return secretText.reduce((masked, pattern) => masked.replace(pattern, redacted), cut);
}
