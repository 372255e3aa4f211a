import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { FilterEnvironment } from "./environment.ts";
import type { Filter } from "../exchange/filter.ts";
import { filterOrder, type FilterStep } from "./order.ts";
import { combineChecks } from "./satisfy.ts";

const none: readonly Filter[] = [];

/** The slugs of the features that are set, in the order in which their filters run. */
export const presentFeatures = (features: RouteFeatures = {}): readonly FeatureSlug[] =>
  filterOrder.flatMap((step) => (valueAt(step, features) === undefined ? [] : step.slug));

/** Builds the filters for the features of a route or backend, in the order in which they run. */
export function compileFilters(
  features: RouteFeatures | undefined,
  environment: FilterEnvironment,
): readonly Filter[] {
  if (features === undefined) return none;
  const filters = filterOrder.flatMap((step) => compileFilter(step, features, environment) ?? []);
  return filters.length === 0 ? none : combineChecks(filters, features);
}

function compileFilter<Slug extends FeatureSlug>(
  step: FilterStep<Slug>,
  features: RouteFeatures,
  environment: FilterEnvironment,
): Filter | undefined {
  const value = valueAt(step, features);
  return value === undefined ? undefined : step.create(value, environment);
}

/** The value of the feature of a step; undefined if it is not set, or runs at another step. */
function valueAt<Slug extends FeatureSlug>(
  { slug, when }: FilterStep<Slug>,
  features: RouteFeatures,
): NonNullable<RouteFeatures[Slug]> | undefined {
  const value = features[slug];
  return value === undefined || when?.(value) === false ? undefined : value;
}
