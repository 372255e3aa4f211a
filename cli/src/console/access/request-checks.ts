/** Which requests come from a page of the console, or from a person: checks against other sites in the same browser. */
import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

/**
 * Whether a Host header names this console. A page of another site can make its own name lead here (DNS rebinding), but not an
 * address, nor a name that only this machine or the operator decides about.
 */
export function isOwnHost(host: string | undefined, names: readonly string[]): boolean {
  const [, name] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::\d{1,5})?$/i.exec(host ?? "") ?? [];
  if (name === undefined) return false;
  const lower = name.toLowerCase();
  return lower === "localhost" || isIP(lower.replace(/^\[|\]$/g, "")) !== 0 || names.includes(lower);
}

/** Whether a form of the console sent a POST, as opposed to a page of another site (Fetch Metadata, RFC 6454). */
export function isOwnForm({ "sec-fetch-site": site, origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === "same-origin" || site === "none";
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** The value of a cookie, or an empty text. */
export function cookieIn(header: string | undefined, name: string): string {
  for (const pair of (header ?? "").split(";")) {
    const [key, ...value] = pair.trim().split("=");
    if (key === name) return value.join("=");
  }
  return "";
}
