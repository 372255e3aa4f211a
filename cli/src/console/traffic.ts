/** Computes rates of requests from the counters of `/metrics`. */

/** The counters at one time, by label set: requests since the start. */
export type Sample = { readonly atMs: number; readonly counts: ReadonlyMap<string, RequestCount> };

export type RequestCount = { readonly route: string; readonly status: string; readonly count: number };

export type TrafficRow = {
  readonly route: string;
  readonly requests: number;
  readonly errors: number;
  /** Requests per second, between the last two samples. */
  readonly rate: number;
};

export type Traffic = {
  readonly rows: readonly TrafficRow[];
  /** The time between the two samples, in milliseconds; the first sample is compared with the start. */
  readonly spanMs: number;
};

/** Returns the traffic at `nowMs`, in milliseconds of the monotonic clock from which `startedMs` was read. */
export type TrafficKeeper = { look(nowMs: number): Promise<Traffic> };

/** The minimum interval between samples, because reading the counters of a proxy with many routes takes time. */
const minSpanMs = 5_000;

const metric = "svc_proxy_requests_total";

/** Creates a keeper that samples the counters when a page is requested, and compares them with the previous sample. */
export function createTrafficKeeper(read: () => Promise<string>, startedMs: number): TrafficKeeper {
  /** The previous sample; initially the start, with no requests. */
  let before: Sample = { atMs: startedMs, counts: new Map() };
  let last: Sample | undefined;
  let reading: Promise<Sample> | undefined;
  return {
    async look(nowMs) {
      if (last === undefined || nowMs - last.atMs >= minSpanMs) {
        reading ??= read()
          .then((text) => ({ atMs: nowMs, counts: parseCounts(text) }))
          .finally(() => (reading = undefined));
        const next = await reading;
        if (next !== last) [before, last] = [last ?? before, next];
      }
      return compare(before, last);
    },
  };
}

function compare(before: Sample, last: Sample | undefined): Traffic {
  const rows = new Map<string, { requests: number; errors: number; earlier: number }>();
  for (const [key, { route, status, count }] of last?.counts ?? []) {
    const row = rows.get(route) ?? { requests: 0, errors: 0, earlier: 0 };
    row.requests += count;
    if (status.startsWith("5")) row.errors += count;
    row.earlier += before.counts.get(key)?.count ?? 0;
    rows.set(route, row);
  }
  const spanMs = Math.max(1, (last ?? before).atMs - before.atMs);
  return {
    spanMs,
    rows: [...rows]
      .map(([route, { requests, errors, earlier }]): TrafficRow => ({
        route,
        requests,
        errors,
        // Counts can decrease when a worker is replaced.
        rate: (Math.max(0, requests - earlier) * 1000) / spanMs,
      }))
      .sort((a, b) => b.requests - a.requests),
  };
}

/** Parses the lines of the counter in the Prometheus text format. */
export function parseCounts(text: string): ReadonlyMap<string, RequestCount> {
  const counts = new Map<string, RequestCount>();
  for (const line of text.split("\n")) {
    if (!line.startsWith(`${metric}{`)) continue;
    const end = line.lastIndexOf("} ");
    const labels = line.slice(metric.length + 1, end);
    const count = Number(line.slice(end + 2));
    if (end < 0 || !Number.isFinite(count)) continue;
    counts.set(labels, { route: labelIn(labels, "route"), status: labelIn(labels, "status_code"), count });
  }
  return counts;
}

const labelIn = (labels: string, name: string): string => {
  const [, value = ""] = new RegExp(`(?:^|,)${name}="((?:[^"\\\\]|\\\\.)*)"`).exec(labels) ?? [];
  return value.replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char));
};
