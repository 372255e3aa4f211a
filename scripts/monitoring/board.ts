/** Renders dashboards with Grafana's own builders, so that the JSON follows the dashboard schema of Grafana. */
import {
  BigValueGraphMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  SortOrder,
  TooltipDisplayMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimeseriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

export type Query = {
  readonly expr: string;
  /** The names of series, with labels as `{{label}}`. */
  readonly legend: string;
};

export type Limit = {
  readonly from: number | null;
  readonly colour: "green" | "orange" | "red" | "text" | "transparent";
};

export type Panel = {
  readonly title: string;
  /** An explanation for readers of the panel. */
  readonly description: string;
  /** A unit of Grafana: `reqps`, `ops`, `s`, `bytes`, `Bps`, `percentunit`, `short`, or `suffix:` with a custom one. */
  readonly unit: string;
  /** Whether the panel shows a number instead of a graph. */
  readonly isStat?: true;
  /**
   * The values from which action is required; those of alerts if there are any. They determine the colour of a
   * number, and are lines in a graph. The first has no value, and is the colour below all others. Without limits a
   * number has the colour of text, because Grafana's own default is red from 80 on for every number.
   */
  readonly limits?: readonly Limit[];
  readonly queries: readonly Query[];
};

export type Board = {
  /** The identifier, which is also the name of the file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Labels that readers select, with the series from which the offered values come. */
  readonly variables: readonly { readonly name: string; readonly label: string; readonly values: string }[];
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
};

/** The data source that readers select. */
const source = { type: "prometheus", uid: "${datasource}" };

/** The dashboard as JSON, for an import into Grafana or for its sidecar. */
export function renderBoard({ uid, title, description, variables, rows }: Board): string {
  let builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags(["svc-gateway"])
    .timezone("browser")
    .time({ from: "now-3h", to: "now" })
    .refresh("30s")
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder("datasource").label("Data source").type("prometheus"));
  for (const variable of variables) {
    builder = builder.withVariable(
      new QueryVariableBuilder(variable.name)
        .label(variable.label)
        .query(variable.values)
        .datasource(source)
        .refresh(VariableRefresh.OnTimeRangeChanged)
        .multi(true)
        .includeAll(true)
        // Includes series without the label, because some Prometheus installations do not add it.
        .allValue(".*"),
    );
  }
  for (const row of rows) {
    builder = builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) builder = builder.withPanel(panelOf(panel, widthOf(panel, row.panels)));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

/** Graphs are placed in pairs; one without a neighbour has the whole width. */
function widthOf(panel: Panel, row: readonly Panel[]): number {
  if (panel.isStat) return 6;
  const graphs = row.filter(({ isStat }) => isStat !== true);
  return panel === graphs.at(-1) && graphs.length % 2 === 1 ? 24 : 12;
}

function panelOf(
  { title, description, unit, isStat, limits, queries }: Panel,
  width: number,
): TimeseriesBuilder | StatBuilder {
  const panel = isStat ? stat() : graph(limits !== undefined);
  panel.title(title).description(description).unit(unit).datasource(source).span(width);
  panel.thresholds(thresholdsOf(limits ?? [{ from: null, colour: "text" }]));
  for (const [index, { expr, legend }] of queries.entries()) {
    const refId = String.fromCodePoint(65 + index);
    const query = new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend).datasource(source);
    panel.withTarget(isStat ? query.instant() : query.range());
  }
  return panel;
}

const thresholdsOf = (limits: readonly Limit[]): ThresholdsConfigBuilder =>
  new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps(limits.map(({ from, colour }) => ({ value: from, color: colour })));

const stat = (): StatBuilder =>
  new StatBuilder()
    .height(4)
    .graphMode(BigValueGraphMode.None)
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(["lastNotNull"]));

/** A graph with a legend, which the builder hides by default. */
const graph = (hasLimits: boolean): TimeseriesBuilder =>
  new TimeseriesBuilder()
    .height(8)
    .min(0)
    .fillOpacity(10)
    .lineWidth(1)
    .thresholdsStyle(
      new GraphThresholdsStyleConfigBuilder().mode(
        hasLimits ? GraphThresholdsStyleMode.Dashed : GraphThresholdsStyleMode.Off,
      ),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .legend(
      new VizLegendOptionsBuilder()
        .showLegend(true)
        .displayMode(LegendDisplayMode.Table)
        .placement(LegendPlacement.Bottom)
        .calcs(["lastNotNull", "max"])
        .sortBy("Last *")
        .sortDesc(true),
    );
