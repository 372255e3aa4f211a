import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import type { Upstream } from "../upstream/upstream.ts";
import type { FilterEnvironment } from "./environment.ts";
import type { Filter } from "../exchange/filter.ts";

/** One place that gets copies of requests. */
export type MirrorPlan = {
  /** The present upstream. */
  readonly upstream: () => Upstream;
  /** The share of requests that are copied, 0 to 1. */
  readonly share: number;
};

/** Has requests copied once nothing refuses or changes them any more. See docs/features/mirror-target.md. */
export function mirrorTargetFilter(targets: MirrorTarget, { upstreamOf }: FilterEnvironment): Filter {
  const plans = targets.map(({ endpoints, protocol, fraction }): MirrorPlan => ({
    upstream: upstreamOf(endpoints, protocol),
    share: fraction === undefined ? 1 : fraction.numerator / fraction.denominator,
  }));
  return {
    slug: "mirror-target",
    onRequest(exchange) {
      exchange.mirrors = exchange.mirrors.length === 0 ? plans : [...exchange.mirrors, ...plans];
      return undefined;
    },
  };
}
