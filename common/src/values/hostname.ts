import { ok, problem, type Problem, type Result } from "./result.ts";

/**
 * A DNS name in the notation of Ingress and Gateway API. `name` is lower-case and has no trailing dot; for a wildcard,
 * it also omits the `*.`, so `*.example.com` is `{ kind: "wildcard", name: "example.com" }`. The number of labels that
 * a wildcard covers depends on the routing rules of the API, not on the name.
 */
export type Hostname = { readonly kind: "exact" | "wildcard"; readonly name: string };

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const expected = 'a DNS name such as "example.com"';

/** Reads an exact or wildcard host name. IP addresses are rejected, as by Kubernetes. */
export function parseHostname(text: string): Result<Hostname, Problem> {
  const trimmed = text.trim().toLowerCase();
  const isWildcard = trimmed.startsWith("*.");
  const name = parseDnsName(isWildcard ? trimmed.slice(2) : trimmed);
  if (!name.ok) return problem(name.error.message, `${expected} or "*.example.com"`);
  return ok({ kind: isWildcard ? "wildcard" : "exact", name: name.value });
}

/** Writes a host name in the notation of configuration. */
export const formatHostname = ({ kind, name }: Hostname): string =>
  kind === "wildcard" ? `*.${name}` : name;

/**
 * Reads an exact DNS name (RFC 1123 section 2.1): labels of letters, digits and inner hyphens, at most 63 characters
 * each and 253 in all. One trailing dot is dropped, and the result is lower-case. A name whose last label has only
 * digits could be read as an IP address and is rejected.
 */
export function parseDnsName(text: string): Result<string, Problem> {
  const lower = text.trim().toLowerCase();
  const name = lower.endsWith(".") ? lower.slice(0, -1) : lower;
  const shown = `"${name.slice(0, 64)}"`;
  if (name.length > 253) return problem(`${shown}... is longer than 253 characters`, expected);
  const labels = name.split(".");
  if (!labels.every((part) => label.test(part))) return problem(`${shown} is not a DNS name`, expected);
  if (/^\d+$/.test(labels.at(-1) ?? ""))
    return problem(`${shown} ends in a number, like an IP address`, expected);
  return ok(name);
}
