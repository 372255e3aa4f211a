import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Exchange } from "../exchange/exchange.ts";
import type { Filter } from "../exchange/filter.ts";
import type { LocalReply } from "../message/local-reply.ts";

/** The slugs of the checks of which one is enough. */
const participants: ReadonlySet<string> = new Set([
  "ip-access-control",
  "auth-basic-secret",
  "auth-jwt",
  "ext-auth",
]);

const slug = "satisfy";

/** A placeholder for the combined check, which `combineChecks` puts in its place. */
export const satisfyFilter = (): Filter => ({ slug });

type Check = {
  readonly filter: Filter;
  /** Whether passing this check admits a request even if all other checks refuse it. */
  readonly admits: boolean;
};

/**
 * Replaces the checks of a route by one that lets a request pass when any of them does, and every required one besides.
 * If none does, a refusal for lack of credentials (401, or a redirect to sign in) takes precedence over 403. A check that
 * cannot be made ends the request. The part of a check that concerns every request stays in its place. See
 * docs/features/satisfy.md.
 */
export function combineChecks(filters: readonly Filter[], features: RouteFeatures): readonly Filter[] {
  if (features.satisfy !== "any") return filters;
  const checks = filters
    .filter((filter) => participants.has(filter.slug) && filter.onRequest !== undefined)
    .map((filter): Check => ({ filter, admits: isAdmitting(filter, features) }));
  const onRequest = compileAny(checks);
  return filters.map((filter) => {
    if (filter.slug === slug) return { slug, onRequest };
    if (!checks.some((check) => check.filter === filter)) return filter;
    const { onRequest: _, onEveryRequest, ...rest } = filter;
    return onEveryRequest === undefined ? rest : { ...rest, onRequest: onEveryRequest };
  });
}

/**
 * Neither an address that is only absent from the denied ranges nor a service that every request needs admits the
 * client.
 */
function isAdmitting(filter: Filter, features: RouteFeatures): boolean {
  if (filter.slug === "ip-access-control") return features["ip-access-control"]?.allow !== undefined;
  if (filter.slug !== "ext-auth") return true;
  return features["ext-auth"]?.every(({ required }) => required === true) !== true;
}

function compileAny(checks: readonly Check[]): NonNullable<Filter["onRequest"]> {
  return async (exchange) => {
    let refusal: LocalReply | undefined;
    for (const [index, { filter, admits }] of checks.entries()) {
      const reply = await filter.onRequest?.(exchange);
      if (exchange.finished) return reply;
      if (reply === undefined && admits) {
        const skipped = checks.slice(index + 1);
        // The remaining checks do not run, but the client must not set the fields that they own.
        for (const other of skipped) other.filter.onUnchecked?.(exchange);
        for (const other of checks) if (other.filter !== filter) other.filter.onAdmitted?.(exchange);
        return runRequired(skipped, exchange);
      }
      if (reply === undefined) continue;
      if (!isRefusal(reply)) return reply;
      filter.onUnchecked?.(exchange);
      if (refusal === undefined || refusal.status === 403) refusal = reply;
    }
    return refusal;
  };
}

/** Runs the parts of skipped checks that no other check replaces, up to the first that answers the request. */
async function runRequired(skipped: readonly Check[], exchange: Exchange): Promise<LocalReply | undefined> {
  for (const { filter } of skipped) {
    const reply = await filter.requiredCheck?.(exchange);
    if (reply !== undefined || exchange.finished) return reply;
  }
  return undefined;
}

/** Whether a reply refuses the client, unlike one for a check that could not be made. 302 redirects to sign in. */
const isRefusal = ({ status }: LocalReply): boolean => status === 401 || status === 403 || status === 302;
