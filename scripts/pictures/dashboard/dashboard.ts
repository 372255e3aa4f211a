/** Draws a dashboard with the layout of Grafana, from its JSON and the answers of Prometheus to its queries. */
import { label, picture, width, type Place, type Shape } from "../svg.ts";
import type { DashboardData, GridPlace, PanelData } from "./data.ts";
import { colours, graph } from "./graph.ts";
import { formatValue } from "./units.ts";

const columns = 24;
/** The height of a row of the grid in pixels, including the gap. */
const rowHeight = 25;
const gap = 6;
const headHeight = 34;
const titleHeight = 22;

export function dashboardPicture(data: DashboardData): string {
  const rows = Math.max(...data.panels.map(({ place }) => place.y + place.h));
  const chosen = data.variables
    .map(({ label: name, values }) => `${name}: All (${values.length})`)
    .join(", ");
  const shapes = [
    label({ x: 4, y: 20 }, data.title, { bold: true }),
    label({ x: width - 4, y: 20 }, chosen, { anchor: "end", soft: true }),
    ...data.panels.map((panel) => panelShape(panel, placeOf(panel.place), data)),
  ];
  return picture(headHeight + rows * rowHeight, `${data.title}. ${data.description}`, shapes);
}

const placeOf = ({ x, y, w, h }: GridPlace): Place => ({
  x: Math.round((x * width) / columns),
  y: headHeight + y * rowHeight,
  width: Math.round((w * width) / columns) - gap,
  height: h * rowHeight - gap,
});

function panelShape(panel: PanelData, place: Place, data: DashboardData): Shape {
  const { x, y, width: wide, height } = place;
  if (panel.kind === "row") return label({ x: x + 4, y: y + 16 }, `⌄ ${panel.title}`, { bold: true });
  const inner: Place = { x, y: y + titleHeight, width: wide, height: height - titleHeight };
  const hasValues = panel.lines.some(({ points }) => points.some(([, value]) => Number.isFinite(value)));
  const content = !hasValues
    ? label({ x: x + wide / 2, y: y + height / 2 + 8 }, "No data", { anchor: "middle", soft: true })
    : panel.kind === "stat"
      ? stat(panel, inner)
      : graph(panel, inner, data);
  return [
    `<rect x="${x}" y="${y}" width="${wide}" height="${height}" rx="3" style="fill:none;stroke:var(--picture-line);stroke-opacity:.5"/>`,
    label({ x: x + 8, y: y + 15 }, panel.title, { bold: true, small: true }),
    content,
  ].join("");
}

/** The last value, in the colour of its threshold. */
function stat({ lines, unit, thresholds }: PanelData, { x, y, width: wide, height }: Place): Shape {
  const value = lines[0]?.points.at(-1)?.[1] ?? Number.NaN;
  const { color } = thresholds.findLast((one) => one.value === undefined || value >= one.value) ?? {
    color: "text",
  };
  return `<text x="${x + wide / 2}" y="${y + height / 2 + 6}" text-anchor="middle" font-size="24" font-weight="600" style="fill:${colours[color] ?? "inherit"}">${formatValue(unit, value)}</text>`;
}
