import { createHmac } from "node:crypto";
import type { SessionCookie } from "@svc-gateway/common/features/session-cookie.ts";
import type { SessionAffinity } from "@svc-gateway/common/ir/session-affinity.ts";
import { cookieValue } from "../message/cookies.ts";
import type { PickRequest, UpstreamEndpoint } from "./upstream.ts";

/** The key of all session cookies of an installation; undefined until a snapshot has delivered it. */
export type SessionKey = { current: Buffer | undefined };

const valueBytes = 16;

/**
 * The session cookie values of one upstream. Each value names an endpoint in a form that only holders of the key can
 * create or read. Values refer to no stored state, so they are valid on every proxy and after a restart. See
 * docs/features/backend-policy.md.
 */
export class SessionCookies {
  private readonly service: string;
  private readonly key: SessionKey;
  private readonly endpoints: readonly UpstreamEndpoint[];
  private madeWith: Buffer | undefined = undefined;
  private byValue: ReadonlyMap<string, UpstreamEndpoint> = new Map();
  private values: ReadonlyMap<UpstreamEndpoint, string> = new Map();

  /** `service` is `namespace/name`. */
  constructor(service: string, key: SessionKey, endpoints: readonly UpstreamEndpoint[]) {
    this.service = service;
    this.key = key;
    this.endpoints = endpoints;
  }

  /** Returns the endpoint that the client's cookie names, if it still exists; of several cookies, the first such. */
  endpointOf(cookie: string, { received }: PickRequest): UpstreamEndpoint | undefined {
    this.make();
    const value = cookieValue(received, cookie, (one) => this.byValue.has(one));
    return value === undefined ? undefined : this.byValue.get(value);
  }

  /** Returns the Set-Cookie value that binds a client to an endpoint; undefined without a key. */
  bind(rules: CookieRules, endpoint: UpstreamEndpoint, request: PickRequest): string | undefined {
    this.make();
    const value = this.values.get(endpoint);
    return value === undefined ? undefined : renderCookie(rules, value, request);
  }

  /** Computes the values when they are first needed, and again after the key has changed. */
  private make(): void {
    const { current } = this.key;
    if (current === this.madeWith) return;
    this.madeWith = current;
    this.values = new Map(
      current && this.endpoints.map((endpoint) => [endpoint, valueOf(current, this.service, endpoint)]),
    );
    this.byValue = new Map([...this.values].map(([endpoint, value]) => [value, endpoint]));
  }
}

/** The session cookie of a route, or that of a Service's policy, whose sessions move when their endpoint fails. */
export type CookieRules = SessionAffinity & { readonly isOfPolicy?: true };

export const policyCookie = (cookie: string, rules: SessionCookie = { path: "/" }): CookieRules => ({
  ...rules,
  cookie,
  isOfPolicy: true,
});

/** Renders a Set-Cookie value (RFC 6265 4.1), with its attributes in the order in which nginx writes them. */
function renderCookie(rules: CookieRules, value: string, { secure, received }: PickRequest): string {
  const { cookie, path, domain, expiresSeconds, maxAgeSeconds, sameSite } = rules;
  let text = `${cookie}=${value}`;
  if (expiresSeconds !== undefined) text += `; Expires=${dateIn(expiresSeconds)}`;
  if (maxAgeSeconds !== undefined) text += `; Max-Age=${maxAgeSeconds}`;
  if (domain !== undefined) text += `; Domain=${domain}`;
  text += `; Path=${path}`;
  const isSecure = secure || rules.alwaysSecure === true;
  if (isSecure) text += "; Secure";
  text += "; HttpOnly";
  const isOmitted =
    sameSite === "None" && rules.omitsNoneIfMisread === true && misreadsNone(received.joined("user-agent"));
  if (sameSite !== undefined && !isOmitted) text += `; SameSite=${sameSite}`;
  return isSecure && rules.partitioned === true ? `${text}; Partitioned` : text;
}

/** The last day that the date format can represent (RFC 9110 5.6.7). */
const lastDateMs = Date.UTC(9999, 11, 31);

const dateIn = (seconds: number): string =>
  new Date(Math.min(Date.now() + seconds * 1000, lastDateMs)).toUTCString();

/**
 * Reports whether a client misinterprets `SameSite=None`: Chrome 40 to 69, Safari on iOS 12 and on macOS 10.14
 * (chromium.org, "SameSite=None: Known Incompatible Clients").
 */
function misreadsNone(userAgent: string | undefined): boolean {
  if (userAgent === undefined) return false;
  if (/Chrome\/[456]/.test(userAgent)) return true;
  if (/\(iP.+; CPU .*OS 12[_\d]*.*\) AppleWebKit\//.test(userAgent)) return true;
  return /\(Macintosh;.*Mac OS X 10_14[_\d]*.*\) AppleWebKit\/.*Version\/.* Safari\//.test(userAgent);
}

const valueOf = (key: Buffer, service: string, { address }: UpstreamEndpoint): string =>
  createHmac("sha256", key)
    .update(`${service}|${address}`)
    .digest("hex")
    .slice(0, 2 * valueBytes);
