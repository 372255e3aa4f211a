/** The few forms of queries that boards and rules repeat. */

/** Labels that Prometheus adds to every series of a pod, and which the boards offer to choose. */
export const chosenPods = 'namespace=~"$namespace", pod=~"$pod"';

/** A selector from matchers, of which empty ones are left out. */
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

/** A quantile as a graph shows it: without series that had no event, whose quantile is not a number. */
export const shownQuantile = (...given: Parameters<typeof quantile>): string => `${quantile(...given)} >= 0`;
