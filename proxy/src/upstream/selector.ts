import type { Picker } from "./balancers/balancer.ts";
import type { Admission, RouteBreakers, UpstreamBreakers } from "./breaker/upstream-breakers.ts";
import { loadOf } from "./endpoint-load.ts";
import { EndpointWatch } from "./endpoint-watch.ts";
import type { CookieRules, SessionCookies } from "./session-cookie.ts";
import type { PickRequest, Selection, UpstreamEndpoint } from "./upstream.ts";

export type SelectorParts = {
  /** Picks by the load-balancing algorithm. */
  readonly picker: Picker;
  /**
   * Picks for the first attempt of a request: by session persistence by header if configured, else by the algorithm.
   */
  readonly firstPicker: Picker;
  readonly sessions: SessionCookies;
  /** The session cookie of the Service's policy, for routes without their own. */
  readonly cookie: CookieRules | undefined;
  readonly breakers: UpstreamBreakers | undefined;
  /** Reports whether the algorithm of the Service or of a route uses the load and latency of endpoints. */
  readonly needsLoad: () => boolean;
};

type Endpoints = ReadonlySet<UpstreamEndpoint>;

/**
 * Chooses the endpoint of an attempt, by session persistence first, then by the algorithm. Circuit breakers can reject
 * the choice of either. A retry prefers endpoints that were not tried, and uses the algorithm alone unless the cookie
 * of its route binds sessions through failures. See docs/features/backend-policy.md, "How an endpoint is chosen".
 */
export class Selector {
  private readonly parts: SelectorParts;

  constructor(parts: SelectorParts) {
    this.parts = parts;
  }

  pick(request: PickRequest, tried: Endpoints | undefined): Selection | undefined {
    const { sessions, breakers, firstPicker, picker } = this.parts;
    const guard = breakers?.of(request.routeId);
    const cookie = this.cookieOf(request);
    const bound = cookie && sessions.endpointOf(cookie.cookie, request);
    const stays = tried === undefined || (cookie?.isOfPolicy !== true && cookie?.changesOnFailure !== true);
    if (bound !== undefined && stays) {
      const admission = guard?.admit(bound);
      if (guard === undefined || admission !== undefined) return this.select(bound, admission, undefined);
    }
    const algorithm = tried === undefined ? firstPicker : picker;
    const found =
      guard === undefined
        ? pickUntried(algorithm, request, tried, undefined)
        : pickAdmitted(algorithm, request, tried, guard);
    if (found === undefined) return undefined;
    const { endpoint, admission } = found;
    const moves = tried !== undefined && cookie?.changesOnFailure === true && endpoint !== bound;
    const isNew = bound === undefined || moves;
    const setCookie = isNew && cookie !== undefined ? sessions.bind(cookie, endpoint, request) : undefined;
    return this.select(endpoint, admission, setCookie);
  }

  /** Reports whether the session cookie of the request names one of the endpoints. */
  hasSession(request: PickRequest): boolean {
    const cookie = this.cookieOf(request);
    return cookie !== undefined && this.parts.sessions.endpointOf(cookie.cookie, request) !== undefined;
  }

  private cookieOf({ affinity }: PickRequest): CookieRules | undefined {
    return affinity ?? this.parts.cookie;
  }

  private select(
    endpoint: UpstreamEndpoint,
    admission: Admission | undefined,
    setCookie: string | undefined,
  ): Selection {
    const needsLoad = this.parts.needsLoad();
    const watch =
      needsLoad || admission !== undefined
        ? new EndpointWatch(needsLoad ? loadOf(endpoint) : undefined, admission)
        : undefined;
    return { endpoint, watch, setCookie };
  }
}

type Found = { readonly endpoint: UpstreamEndpoint; readonly admission: Admission | undefined };

function pickUntried(
  picker: Picker,
  request: PickRequest,
  tried: Endpoints | undefined,
  closedOff: Endpoints | undefined,
): Found | undefined {
  const excluded =
    tried === undefined ? closedOff : closedOff === undefined ? tried : new Set([...tried, ...closedOff]);
  const endpoint =
    picker.pick(request, excluded) ?? (tried === undefined ? undefined : picker.pick(request, closedOff));
  return endpoint && { endpoint, admission: undefined };
}

/**
 * Returns the algorithm's choice if the circuit breaker of that endpoint admits the request, which it nearly always
 * does. Otherwise picks again among the endpoints whose breakers appear to admit requests. This can take several
 * rounds, because another worker can take the single probe of a half-open breaker in the meantime.
 */
function pickAdmitted(
  picker: Picker,
  request: PickRequest,
  tried: Endpoints | undefined,
  guard: RouteBreakers,
): Found | undefined {
  let closedOff: Set<UpstreamEndpoint> | undefined;
  for (;;) {
    const endpoint = pickUntried(picker, request, tried, closedOff)?.endpoint;
    if (endpoint === undefined) return undefined;
    const admission = guard.admit(endpoint);
    if (admission !== undefined) return { endpoint, admission };
    if (closedOff === undefined) guard.addClosedOff((closedOff = new Set()));
    closedOff.add(endpoint);
  }
}
