/** Renders dashboards with Grafana's own builders, so that the JSON follows Grafana's schema of dashboards. */
import {
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { DataqueryBuilder } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as TimeseriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

export type Query = {
  readonly expr: string;
  /** Names of series, with labels as `{{label}}`. */
  readonly legend: string;
};

export type Panel = {
  readonly title: string;
  /** What a reader should make of it. */
  readonly description: string;
  /** A unit of Grafana: `reqps`, `s`, `bytes`, `Bps`, `percentunit`, `short`. */
  readonly unit: string;
  /** A number instead of a graph. */
  readonly isStat?: true;
  readonly queries: readonly Query[];
};

export type Board = {
  /** Also the name of the file. */
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Labels that readers choose from, with the series whose values are offered. */
  readonly variables: readonly { readonly name: string; readonly label: string; readonly values: string }[];
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
};

/** The data source that readers choose. */
const source = { type: "prometheus", uid: "${datasource}" };

/** The dashboard as JSON that Grafana imports, and its sidecar loads. */
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
        // Also series without the label, as those of a Prometheus that adds none.
        .allValue(".*"),
    );
  }
  for (const row of rows) {
    builder = builder.withRow(new RowBuilder(row.title));
    for (const panel of row.panels) builder = builder.withPanel(panelOf(panel));
  }
  return `${JSON.stringify(builder.build(), null, 2)}\n`;
}

function panelOf({ title, description, unit, isStat, queries }: Panel): TimeseriesBuilder | StatBuilder {
  const panel = isStat ? new StatBuilder().span(6).height(4) : graph();
  panel.title(title).description(description).unit(unit).datasource(source);
  for (const [index, { expr, legend }] of queries.entries()) {
    const refId = String.fromCodePoint(65 + index);
    const query = new DataqueryBuilder().refId(refId).expr(expr).legendFormat(legend).datasource(source);
    panel.withTarget(isStat ? query.instant() : query.range());
  }
  return panel;
}

const graph = (): TimeseriesBuilder =>
  new TimeseriesBuilder().span(12).height(8).min(0).fillOpacity(10).lineWidth(1);
