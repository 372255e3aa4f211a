/**
 * The file of recording and alerting rules, as Prometheus reads it and as the PrometheusRule of the chart contains
 * it.
 */
import { stringify } from "yaml";
import { alerts } from "./alerts.ts";
import { names } from "./metric-names.ts";
import { quantile, rateBy } from "./promql.ts";

const { proxy, process } = names;

export type Recording = { readonly record: string; readonly expr: string };

const utilization = ["active", "idle"].map((part) =>
  rateBy("namespace, pod, thread", part === "active" ? process.loopActive : process.loopIdle, "", "5m"),
);

/** The recording rules, named as level:metric:operation. */
export const recordings: readonly Recording[] = [
  {
    record: "svc_proxy:event_loop_utilization:ratio5m",
    expr: `${utilization[0]} / (${utilization.join(" + ")})`,
  },
  {
    record: "svc_proxy:requests_per_worker:rate2m",
    expr: `${rateBy("namespace, pod", proxy.requests, "", "2m")} / sum by (namespace, pod) (${proxy.workers})`,
  },
  { record: "svc_route:requests:rate5m", expr: rateBy("namespace, route", proxy.requests, "", "5m") },
  {
    record: "svc_route:errors:ratio_rate5m",
    expr: `${rateBy("namespace, route", proxy.requests, 'status_code=~"5.."', "5m")} / ${rateBy("namespace, route", proxy.requests, "", "5m")}`,
  },
  {
    record: "svc_route:request_duration_seconds:p95_5m",
    expr: quantile(0.95, "namespace, route", proxy.requestDuration, "", "5m"),
  },
];

/** A placeholder for the location of the pages, which the chart replaces with the value `prometheusRule.runbookUrl`. */
const runbooks = "docs/runbooks";

/** The groups of a rule file. */
export const ruleGroups = (): readonly object[] => [
  { name: "svc-gateway.recordings", rules: recordings },
  {
    name: "svc-gateway.alerts",
    rules: alerts.map(({ alert, expr, for: duration, severity, summary }) => ({
      alert,
      expr,
      for: duration,
      labels: { severity },
      annotations: { summary, runbook_url: `${runbooks}/${alert}.md` },
    })),
  },
];

export const rulesFile = (): string =>
  `# Written by scripts/generate-chart.ts from scripts/monitoring; do not edit.\n${stringify({ groups: ruleGroups() }, { lineWidth: 0 })}`;
