import type { RouteFeatures } from "@svc-gateway/common/features/registry.ts";

type Value = { readonly [name: string]: unknown };

/**
 * Joins two sets of features. If both have a feature, its lists are concatenated and its other properties are
 * those of `later`, so that each side contains only what it sets. A header that `earlier` removes and `later`
 * sets or adds is not removed.
 */
export function joinFeatures(
  earlier: RouteFeatures | undefined,
  later: RouteFeatures | undefined,
): RouteFeatures | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  const joined: { [slug: string]: unknown } = { ...earlier };
  for (const [slug, value] of Object.entries(later)) joined[slug] = joinValues(joined[slug], value);
  // Both are features of a route, and properties keep their types.
  return joined as RouteFeatures;
}

function joinValues(earlier: unknown, later: unknown): unknown {
  if (later === undefined) return earlier;
  if (Array.isArray(earlier) && Array.isArray(later))
    return [...(earlier as unknown[]), ...(later as unknown[])];
  if (!isObject(earlier) || !isObject(later)) return later;
  const joined: { [name: string]: unknown } = { ...withoutSet(earlier, later) };
  for (const [name, value] of Object.entries(later)) {
    const before = joined[name];
    joined[name] =
      Array.isArray(before) && Array.isArray(value)
        ? [...(before as unknown[]), ...(value as unknown[])]
        : value;
  }
  return joined;
}

const isObject = (value: unknown): value is Value =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Drops removals of headers that `later` sets or adds, because removals are applied last. */
function withoutSet(earlier: Value, later: Value): Value {
  const { remove } = earlier;
  if (!Array.isArray(remove)) return earlier;
  const present = new Set([...namesIn(later["set"]), ...namesIn(later["add"])]);
  if (present.size === 0) return earlier;
  const { remove: _, ...rest } = earlier;
  const left = (remove as unknown[]).filter((name) => !present.has(String(name).toLowerCase()));
  return left.length === 0 ? rest : { ...rest, remove: left };
}

const namesIn = (fields: unknown): readonly string[] =>
  Array.isArray(fields) ? (fields as { readonly name: string }[]).map(({ name }) => name.toLowerCase()) : [];
