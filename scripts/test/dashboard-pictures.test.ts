import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import type { DashboardData, PanelData } from "../pictures/dashboard/data.ts";
import { dashboardPicture } from "../pictures/dashboard/dashboard.ts";
import { formatValue, ticksOf } from "../pictures/dashboard/units.ts";

const root = new URL("../../", import.meta.url);

const textsOf = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text = ""]) => text);

const panel = (given: Partial<PanelData>): PanelData => ({
  kind: "timeseries",
  title: "Requests",
  place: { x: 0, y: 0, w: 12, h: 8 },
  unit: "reqps",
  min: 0,
  isLegendShown: true,
  thresholds: [],
  isThresholdShown: false,
  lines: [],
  ...given,
});

const dashboard = (...panels: readonly PanelData[]): DashboardData => ({
  title: "A dashboard",
  description: "What it is for.",
  variables: [{ label: "Pod", values: ["a", "b"] }],
  panels,
  from: 0,
  to: 100,
  stepSeconds: 10,
});

describe("the pictures of dashboards", () => {
  it("a value is written in the unit of its panel, in three digits", () => {
    const cases: readonly (readonly [unit: string, value: number, text: string])[] = [
      ["s", 0, "0 s"],
      ["s", 0.01234, "12.3 ms"],
      ["s", 432_000, "5 days"],
      ["bytes", 1536, "1.5 KiB"],
      ["Bps", 2_500_000, "2.5 MB/s"],
      ["percentunit", 0.056, "5.6%"],
      ["reqps", 1234, "1.23k req/s"],
      ["suffix: days", 27.96, "28 days"],
    ];
    for (const [unit, value, text] of cases)
      expect(formatValue(unit, value), `${value} ${unit}`).to.equal(text);
    expect(() => formatValue("parsecs", 1)).to.throw("no scale for the unit parsecs");
  });

  it("an axis begins at the lowest value and ends above the highest, also where all values are equal", () => {
    expect(ticksOf("short", 0, 4)).to.deep.equal([0, 1, 2, 3, 4]);
    expect(ticksOf("short", 0, 0)).to.deep.equal([0, 0.25, 0.5, 0.75, 1]);
    expect(ticksOf("bytes", 0, 3 * 1024)).to.deep.equal([0, 1024, 2048, 3072]);
  });

  it("a graph has its lines with a gap where values are missing, and names them with their last and highest value", () => {
    const points = [[0, 1], [10, 9], [40, Number.NaN], [50, 5]] as const; // prettier-ignore
    const svg = dashboardPicture(dashboard(panel({ lines: [{ name: "5xx <b>", points }] })));
    expect(textsOf(svg)).to.include.members(["Requests", "5xx &lt;b&gt;", "5 req/s", "9 req/s"]);
    expect(svg).to.match(/d="M\d+ \d+L\d+ \d+M\d+ \d+"/);
  });

  it("a legend with more names than fit says how many are left out", () => {
    const lines = Array.from({ length: 20 }, (_, index) => ({
      name: `route ${index}`,
      points: [[0, index]] as const,
    }));
    const texts = textsOf(dashboardPicture(dashboard(panel({ lines }))));
    const shown = texts.filter((text) => text.startsWith("route"));
    expect(shown[0]).to.equal("route 19");
    expect(texts).to.include(`Name (${20 - shown.length} more by scrolling)`);
  });

  it("a number has the colour of the limit that it has reached", () => {
    const thresholds = [
      { value: undefined, color: "green" },
      { value: 2, color: "red" },
    ];
    const withValue = (value: number): string =>
      dashboardPicture(
        dashboard(panel({ kind: "stat", thresholds, lines: [{ name: "", points: [[0, value]] }] })),
      );
    expect(withValue(1)).to.include("fill:#56A64B");
    expect(withValue(2)).to.include("fill:#E02F44");
  });

  it("a panel without a value says so", () => {
    expect(textsOf(dashboardPicture(dashboard(panel({}))))).to.include("No data");
  });

  it("docs/images has a picture of every dashboard with all of its panels: run make dashboards", () => {
    const files = readdirSync(new URL("config/chart/dashboards/", root));
    expect(files).to.have.length.above(3);
    for (const file of files) {
      const json = readFileSync(new URL(`config/chart/dashboards/${file}`, root), "utf8");
      const { panels } = JSON.parse(json) as { panels: readonly { type: string; title: string }[] };
      const name = file.replace("svc-gateway", "dashboard").replace(".json", ".svg");
      const texts = textsOf(readFileSync(new URL(`docs/images/${name}`, root), "utf8"));
      const titles = panels.map(({ type, title }) => (type === "row" ? `⌄ ${title}` : title));
      expect(texts, name).to.include.members(titles);
    }
  });
});
