import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import type { Filter, MirrorPlan } from "../exchange/filter.ts";
import type { FilterEnvironment } from "./environment.ts";

/** Plans copies of the requests of a route, after every filter that refuses them. See docs/features/mirror-target.md. */
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
