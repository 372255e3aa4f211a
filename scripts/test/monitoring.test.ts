import { existsSync, readdirSync, readFileSync } from "node:fs";
import { parser } from "@prometheus-io/lezer-promql";
import { expect } from "chai";
import { createMetricSet, exportMetrics } from "@svc-gateway/common/telemetry/metric-set.ts";
import { renderBoard } from "../monitoring/board.ts";
import { boards } from "../monitoring/boards/index.ts";
import { alerts } from "../monitoring/alerts.ts";
import { allMetrics } from "../monitoring/metric-names.ts";
import { recordings } from "../monitoring/rules.ts";

const runbooks = new URL("../../docs/runbooks/", import.meta.url);

/** Labels that a scrape adds, or that histograms and recording rules have. */
const addedLabels = ["namespace", "pod", "exported_namespace"];

/** The labels of every series name that a query may use. */
const labelsByName = new Map<string, ReadonlySet<string>>(
  allMetrics.flatMap(({ name, type, labels }) => {
    const own = [...Object.keys(labels), ...addedLabels];
    if (type !== "histogram") return [[name, new Set(own)] as const];
    return [
      [`${name}_bucket`, new Set([...own, "le"])],
      [`${name}_sum`, new Set(own)],
      [`${name}_count`, new Set(own)],
    ] as const;
  }),
);
for (const { record } of recordings) labelsByName.set(record, new Set([...addedLabels, "thread", "route"]));

/** The mistakes of a query: invalid syntax, undeclared names, and labels that none of its metrics has. */
function mistakesIn(query: string): readonly string[] {
  const text = query.replaceAll("$__rate_interval", "5m").replaceAll(/\$\w+/g, "x");
  const mistakes: string[] = [];
  const used: string[] = [];
  const labels: string[] = [];
  parser.parse(text).iterate({
    enter({ type, from, to }) {
      const part = text.slice(from, to);
      if (type.isError) mistakes.push(`syntax at ${from}: ${text}`);
      if (type.name === "VectorSelector") used.push(/^[\w:]+/.exec(part)?.[0] ?? "");
      if (type.name === "LabelName") labels.push(part);
    },
  });
  for (const name of used) if (!labelsByName.has(name)) mistakes.push(`${name} is not declared`);
  for (const label of labels) {
    if (!used.some((name) => labelsByName.get(name)?.has(label)))
      mistakes.push(`${label} is no label in ${text}`);
  }
  if (used.length === 0 && !text.startsWith("vector")) mistakes.push(`no metric in ${text}`);
  return mistakes;
}

describe("dashboards and rules", () => {
  const queries = [
    ...boards.flatMap(({ uid, rows }) =>
      rows.flatMap(({ panels }) =>
        panels.flatMap(({ title, queries: own }) =>
          own.map(({ expr }) => ({ where: `${uid}: ${title}`, expr })),
        ),
      ),
    ),
    ...alerts.map(({ alert, expr }) => ({ where: alert, expr })),
    ...recordings.map(({ record, expr }) => ({ where: record, expr })),
  ];

  it("every query is PromQL, and names metrics and labels that are declared", () => {
    expect(queries.length).to.be.above(80);
    const mistakes = queries.flatMap(({ where, expr }) =>
      mistakesIn(expr).map((mistake) => `${where}: ${mistake}`),
    );
    expect(mistakes).to.deep.equal([]);
  });

  it("a query with a renamed metric, a wrong label or broken syntax is found", () => {
    expect(mistakesIn("sum(rate(svc_proxy_request_total[5m]))")).to.deep.equal([
      "svc_proxy_request_total is not declared",
    ]);
    expect(mistakesIn("sum by (rout) (svc_proxy_requests_total)")).to.have.length(1);
    expect(mistakesIn('svc_proxy_requests_total{code="200"}')).to.have.length(1);
    expect(mistakesIn("sum(svc_proxy_requests_total")).to.not.deep.equal([]);
    expect(mistakesIn("histogram_quantile(0.9, svc_proxy_request_duration_seconds)")).to.have.length(1);
  });

  it("legends name labels of their query", () => {
    const wrong = boards.flatMap(({ rows }) =>
      rows.flatMap(({ panels }) =>
        panels.flatMap(({ queries: own }) =>
          own.filter(({ expr, legend }) =>
            [...legend.matchAll(/\{\{(\w+)\}\}/g)].some(
              ([, label = ""]) => !expr.includes(label) && !["pod", "thread", "namespace"].includes(label),
            ),
          ),
        ),
      ),
    );
    expect(wrong).to.deep.equal([]);
  });

  it("titles of panels are unique in a dashboard, and each panel says what it shows", () => {
    for (const { uid, rows } of boards) {
      const panels = rows.flatMap((row) => row.panels);
      expect(new Set(panels.map(({ title }) => title)).size, uid).to.equal(panels.length);
      for (const { description } of panels) expect(description).to.match(/^[A-Z0-9].*\.$/s);
    }
  });

  it("every alert has a page that says its meaning, impact, diagnosis and mitigation", () => {
    for (const { alert } of alerts) {
      const page = new URL(`${alert}.md`, runbooks);
      expect(existsSync(page), alert).to.equal(true);
      const headings = [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
      expect(headings).to.deep.equal([alert, "Meaning", "Impact", "Diagnosis", "Mitigation"]);
    }
    const pages = readdirSync(runbooks).filter((name) => name !== "README.md");
    expect(pages.toSorted()).to.deep.equal(alerts.map(({ alert }) => `${alert}.md`).toSorted());
  });

  it("an alert on the increase of a counter fires at the first event: the series are there from the start", () => {
    const counted = alerts.flatMap(({ expr }) =>
      [...expr.matchAll(/increase\((\w+)/g)].map(([, name]) => name),
    );
    expect(counted).to.include("svc_discovery_client_snapshots_total");
    const missing = allMetrics.filter(
      (metric) =>
        counted.includes(metric.name) && exportMetrics(createMetricSet({ metric }))[0]?.keys.length === 0,
    );
    expect(missing.map(({ name }) => name)).to.deep.equal([]);
  });

  it("graphs have a legend, and numbers have the colours of their limits instead of Grafana's", () => {
    type Rendered = {
      readonly panels: readonly {
        readonly type: string;
        readonly title: string;
        readonly options: { readonly legend?: { readonly showLegend: boolean } };
        readonly fieldConfig: {
          readonly defaults: { readonly thresholds?: { readonly steps: readonly object[] } };
        };
      }[];
    };
    for (const board of boards) {
      const { panels } = JSON.parse(renderBoard(board)) as Rendered;
      for (const { type, title, options, fieldConfig } of panels.filter((panel) => panel.type !== "row")) {
        if (type === "timeseries") expect(options.legend?.showLegend, title).to.equal(true);
        expect(fieldConfig.defaults.thresholds?.steps, title).to.have.length.above(0);
      }
    }
  });

  it("labels in the summary of an alert are those that its query keeps", () => {
    for (const { alert, expr, summary } of alerts) {
      for (const [, label = ""] of summary.matchAll(/\$labels\.(\w+)/g)) {
        const aggregated = /^\w+ by \(([^)]*)\)|\(rate|histogram_quantile/.test(expr);
        const kept = aggregated ? expr.includes(label) : true;
        expect(kept, `${alert}: ${label}`).to.equal(true);
      }
    }
  });
});
