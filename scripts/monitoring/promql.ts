/** The query patterns that boards and rules share. */

/** Labels that Prometheus adds to every series of a pod, for which the boards offer a selection. */
export const chosenPods = 'namespace=~"$namespace", pod=~"$pod"';

/** A selector from matchers, of which empty ones are omitted. */
export const select = (metric: string, ...matchers: readonly string[]): string => {
  const given = matchers.filter((matcher) => matcher !== "");
  return given.length === 0 ? metric : `${metric}{${given.join(", ")}}`;
};

/** The rate of a counter, summed by labels. */
export const rateBy = (by: string, metric: string, matchers = "", range = "$__rate_interval"): string =>
  `sum${by === "" ? "" : ` by (${by})`} (rate(${select(metric, matchers)}[${range}]))`;

/** A quantile of a histogram. */
export const quantile = (
  q: number,
  by: string,
  metric: string,
  matchers = "",
  range = "$__rate_interval",
): string =>
  `histogram_quantile(${q}, ${rateBy(by === "" ? "le" : `le, ${by}`, `${metric}_bucket`, matchers, range)})`;

/** A quantile for a graph, without series that had no event, for which the quantile is NaN. */
export const shownQuantile = (...given: Parameters<typeof quantile>): string => `${quantile(...given)} >= 0`;
