import { createHmac } from "node:crypto";
import { cookieValue } from "../message/cookies.ts";
import type { PickRequest, UpstreamEndpoint } from "./upstream.ts";

/** The key of all session cookies of an installation; undefined until a snapshot has brought it. */
export type SessionKey = { current: Buffer | undefined };

const valueBytes = 16;

/**
 * The session cookies of one upstream: each names an endpoint in a form that only holders of the key can create or
 * read. They hold no state, so they are valid on every proxy and after a restart. See docs/features/backend-policy.md.
 */
export class SessionCookies {
  private readonly cookie: string;
  private readonly service: string;
  private readonly key: SessionKey;
  private readonly endpoints: readonly UpstreamEndpoint[];
  private madeWith: Buffer | undefined = undefined;
  private byValue: ReadonlyMap<string, UpstreamEndpoint> = new Map();
  private values: ReadonlyMap<UpstreamEndpoint, string> = new Map();

  /** `cookie` is its name, `service` is `namespace/name`. */
  constructor(cookie: string, service: string, key: SessionKey, endpoints: readonly UpstreamEndpoint[]) {
    this.cookie = cookie;
    this.service = service;
    this.key = key;
    this.endpoints = endpoints;
    this.make();
  }

  /** The endpoint that the client's cookie names, if it still exists. */
  endpointOf({ received }: PickRequest): UpstreamEndpoint | undefined {
    this.make();
    const value = cookieValue(received, this.cookie);
    return value === undefined ? undefined : this.byValue.get(value);
  }

  /** The Set-Cookie value that binds a client to an endpoint; undefined without a key. */
  bind(endpoint: UpstreamEndpoint, { secure }: PickRequest): string | undefined {
    const value = this.values.get(endpoint);
    if (value === undefined) return undefined;
    return `${this.cookie}=${value}; Path=/; HttpOnly${secure ? "; Secure" : ""}`;
  }

  /** Computes the values, once for each key and set of endpoints. */
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

const valueOf = (key: Buffer, service: string, { address }: UpstreamEndpoint): string =>
  createHmac("sha256", key)
    .update(`${service}|${address}`)
    .digest("hex")
    .slice(0, 2 * valueBytes);
