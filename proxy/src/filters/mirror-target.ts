import type { MirrorTarget } from "@svc-gateway/common/features/mirror-target.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter, MirrorPlan, MirrorUrl } from "../exchange/filter.ts";
import { compileRequestTemplate, originForm } from "../routing/request-template.ts";
import type { FilterEnvironment } from "./environment.ts";

/**
 * Plans copies of the requests of a route, after all filters that can refuse them. See docs/features/mirror-target.md.
 */
export function mirrorTargetFilter(targets: MirrorTarget, environment: FilterEnvironment): Filter {
  const { upstreamOf } = environment;
  const plans = targets.map(({ service, endpoints, protocol, fraction, url }): MirrorPlan => ({
    service,
    upstream: endpoints === undefined ? undefined : upstreamOf(endpoints, protocol),
    share: fraction === undefined ? 1 : fraction.numerator / fraction.denominator,
    url: url && compileUrl(url, environment),
  }));
  return {
    slug: "mirror-target",
    onRequest(exchange) {
      exchange.mirrors = exchange.mirrors.length === 0 ? plans : [...exchange.mirrors, ...plans];
      return undefined;
    },
  };
}

type Url = NonNullable<MirrorTarget[number]["url"]>;

function compileUrl(
  { scheme, authority, target, withoutBody, servedHosts }: Url,
  { auth }: FilterEnvironment,
): MirrorUrl {
  const textOf = compileRequestTemplate(target);
  const authorityOf = compileRequestTemplate(authority);
  const targetOf = (exchange: Exchange): string => originForm(textOf(exchange));
  return {
    authorityOf,
    targetOf,
    withoutBody: withoutBody === true,
    sendToHost:
      servedHosts === true
        ? (exchange, copy) =>
            auth.askHost(
              {
                ...copy,
                scheme,
                authority: authorityOf(exchange),
                method: exchange.method,
                target: targetOf(exchange),
              },
              exchange,
            )
        : undefined,
  };
}
