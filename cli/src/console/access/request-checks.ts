/** Checks that a request comes from the console or its user, and not from another site in the same browser. */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/**
 * Whether a Host header names this console. Another site can resolve its own name to this address (DNS rebinding), but
 * it cannot use an address, `localhost`, or a name that the operator has configured.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const [, name] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host ?? "") ?? [];
  if (name === undefined) return false;
  const lower = name.toLowerCase();
  return lower === "localhost" || isIP(lower.replace(/^\[|\]$/g, "")) !== 0 || names.includes(lower);
}

/** Whether a POST was sent by a form of the console, not by a page of another site (Fetch Metadata, RFC 6454). */
export function isOwnForm({ "sec-fetch-site": site, origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === "same-origin" || site === "none";
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** The value of a cookie, or an empty string. */
export function cookieIn(header: string | undefined, name: string): string {
  for (const pair of (header ?? "").split(";")) {
    const [key, ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return "";
}
