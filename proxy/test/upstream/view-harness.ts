/** Views of an upstream of three endpoints, whose selections tests compare. */
import type { BackendPolicy } from "@svc-gateway/common/features/backend-policy.ts";
import { RetryBudget } from "../../src/upstream/retry-budget.ts";
import type { PickRequest, Selection, Upstream, UpstreamEndpoint } from "../../src/upstream/upstream.ts";
import { UpstreamView } from "../../src/upstream/upstream-view.ts";
import { breakerEnvironment, endpointList, pickRequest } from "./balancing.ts";

export const identity = {
  key: "ns/web/80",
  service: "ns/web",
  protocol: "http1",
  retryBudget: new RetryBudget(0),
} as const;
export const [one, two, three] = endpointList(3) as [UpstreamEndpoint, UpstreamEndpoint, UpstreamEndpoint];
export const all = [one, two, three];

export function harness() {
  const breakers = breakerEnvironment();
  const sessionKey = { current: Buffer.from("the key of the installation") as Buffer | undefined };
  const view = new UpstreamView(identity, { breakers: breakers.environment, sessionKey, random: () => 0 });
  return {
    ...breakers,
    sessionKey,
    view,
    update: (policy: BackendPolicy, endpoints = all) => view.update(endpoints, { policy }),
  };
}

export const pick = (
  upstream: Upstream,
  given: Partial<PickRequest> = {},
  tried?: readonly UpstreamEndpoint[],
): Selection => {
  const selection = upstream.pick(pickRequest(given), tried && new Set(tried));
  if (selection === undefined) throw new Error("no endpoint");
  return selection;
};
export const hosts = (
  upstream: Upstream,
  count: number,
  given: Partial<PickRequest> = {},
): readonly string[] => Array.from({ length: count }, () => pick(upstream, given).endpoint.host.slice(-1));
export const cookieOf = ({ setCookie = "" }: Selection): string => setCookie.split(";", 1)[0] ?? "";
