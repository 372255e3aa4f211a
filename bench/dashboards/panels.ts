/** Reads a dashboard of the chart and sends the queries of its panels to Prometheus. */
import type { DashboardData, GridPlace, Line, PanelData } from "../../scripts/pictures/dashboard/data.ts";
import { scrapeSeconds, type Series } from "./prometheus.ts";
import type { Recording } from "./run.ts";

/** The part of a dashboard that is read here. Grafana's own builders wrote it (scripts/monitoring/board.ts). */
type Dashboard = {
  readonly title: string;
  readonly description: string;
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly label: string;
      readonly type: string;
      readonly query: string;
      readonly allValue?: string;
    }[];
  };
  readonly panels: readonly {
    readonly type: "row" | "stat" | "timeseries";
    readonly title: string;
    readonly gridPos: GridPlace;
    readonly options?: { readonly legend?: { readonly showLegend: boolean } };
    readonly fieldConfig?: {
      readonly defaults: {
        readonly unit: string;
        readonly min?: number;
        readonly thresholds?: {
          readonly steps: readonly { readonly value: number | null; readonly color: string }[];
        };
        readonly custom?: { readonly thresholdsStyle?: { readonly mode: string } };
      };
    };
    readonly targets?: readonly {
      readonly expr: string;
      readonly legendFormat: string;
      readonly instant: boolean;
    }[];
  }[];
};

/** The number of points in a line, which the width of a picture limits. */
const points = 60;

/** The thresholds that Grafana uses for a value without any. */
const defaultThresholds = [
  { value: undefined, color: "green" },
  { value: 80, color: "red" },
];

/** Reads the dashboard with every choice selected. Throws when Prometheus rejects a query. */
export async function readDashboard(json: string, recording: Recording): Promise<DashboardData> {
  const read = JSON.parse(json) as Dashboard;
  const { from, to } = recording;
  const stepSeconds = Math.max(scrapeSeconds, Math.ceil((to - from) / points));
  const end = from + Math.floor((to - from) / stepSeconds) * stepSeconds;
  const panels = await Promise.all(
    read.panels.map((panel) => readPanel(panel, read, recording, { from, to: end, stepSeconds })),
  );
  const variables = await Promise.all(
    read.templating.list
      .filter(({ type }) => type === "query")
      .map(async ({ label, query }) => ({ label, values: await offeredValues(query, read, recording) })),
  );
  const { title, description } = read;
  return { title, description, variables, panels, from, to: end, stepSeconds };
}

type Span = Pick<DashboardData, "from" | "to" | "stepSeconds">;

async function readPanel(
  { type, title, gridPos, options, fieldConfig, targets = [] }: Dashboard["panels"][number],
  board: Dashboard,
  { prometheus }: Recording,
  span: Span,
): Promise<PanelData> {
  const defaults = fieldConfig?.defaults;
  const lines = await Promise.all(
    targets.map(async ({ expr, legendFormat, instant }) => {
      const query = interpolated(expr, board, span.stepSeconds);
      const series = instant
        ? await prometheus.instant(query, span.to)
        : await prometheus.range(query, span.from, span.to, span.stepSeconds);
      return series.map((one) => lineOf(one, legendFormat));
    }),
  );
  return {
    kind: type,
    title,
    place: gridPos,
    unit: defaults?.unit ?? "short",
    min: defaults?.min,
    isLegendShown: options?.legend?.showLegend ?? false,
    thresholds:
      defaults?.thresholds?.steps.map(({ value, color }) => ({ value: value ?? undefined, color })) ??
      defaultThresholds,
    isThresholdShown: ![undefined, "off"].includes(defaults?.custom?.thresholdsStyle?.mode),
    lines: lines.flat(),
  };
}

const lineOf = ({ labels, points: values }: Series, legend: string): Line => ({
  name: legend.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => labels[name] ?? "").trim(),
  points: values,
});

/**
 * A query with its variables replaced as Grafana does it: every choice is selected, and a rate covers at least four
 * scrapes.
 */
function interpolated(expr: string, board: Dashboard, stepSeconds: number): string {
  const rateSeconds = Math.max(4 * scrapeSeconds, stepSeconds + scrapeSeconds);
  let query = expr.replaceAll("$__rate_interval", `${rateSeconds}s`);
  for (const { name, allValue } of board.templating.list)
    query = query.replaceAll(`$${name}`, allValue ?? "");
  return query;
}

/** The values of a label, which `label_values(selector, label)` of a variable requests. */
async function offeredValues(
  query: string,
  board: Dashboard,
  { prometheus, to }: Recording,
): Promise<readonly string[]> {
  const [, selector = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? [];
  const series = await prometheus.instant(interpolated(`group by (${label}) (${selector})`, board, 0), to);
  return series.map(({ labels }) => labels[label] ?? "");
}
