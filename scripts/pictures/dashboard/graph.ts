import { label, type Place, type Shape } from "../svg.ts";
import type { DashboardData, Line, PanelData } from "./data.ts";
import { formatValue, ticksOf } from "./units.ts";

/** Grafana's classic palette, which has enough contrast on light and dark backgrounds. */
const palette = [
  ...["#7EB26D", "#EAB839", "#3CA8C8", "#EF843C", "#E24D42", "#1F78C1"],
  ...["#BA43A9", "#705DA0", "#508642", "#CCA300", "#447EBC", "#C15C17"],
];
const colourOf = (index: number): string => palette[index % palette.length] ?? "";

/** Grafana's names of colours in thresholds. */
export const colours: Readonly<Record<string, string>> = {
  green: "#56A64B",
  yellow: "#E0A100",
  orange: "#E0752D",
  red: "#E02F44",
  text: "var(--picture-ink)",
  transparent: "none",
};

const axisWidth = 64;
const legendRow = 13;
/** The largest share of a panel that Grafana uses for a legend below the graph; further rows are scrolled. */
const legendShare = 0.35;

type Span = Pick<DashboardData, "from" | "to" | "stepSeconds">;

/** Draws the lines of a panel at a place, with axes, and a table of the last and the highest values below. */
export function graph(
  { unit, min, lines, thresholds, ...panel }: PanelData,
  place: Place,
  span: Span,
): Shape {
  const sorted = lines
    .map((line, index) => ({ ...line, colour: colourOf(index), last: lastOf(line) }))
    .toSorted((a, b) => b.last - a.last);
  const rows = panel.isLegendShown ? legendRows(sorted.length, place.height) : 0;
  const area: Place = {
    x: place.x + axisWidth,
    y: place.y + 4,
    width: place.width - axisWidth - 8,
    height: place.height - 22 - (rows > 0 ? (rows + 1) * legendRow + 2 : 0),
  };
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const ticks = ticksOf(unit, Math.min(min ?? Infinity, ...values), Math.max(min ?? -Infinity, ...values));
  const [low = 0, high = 1] = [ticks[0], ticks.at(-1)];
  const x = (seconds: number): number =>
    Math.round(area.x + ((seconds - span.from) / (span.to - span.from)) * area.width);
  const y = (value: number): number =>
    Math.round(area.y + area.height - ((value - low) / (high - low)) * area.height);
  const limits = panel.isThresholdShown ? thresholds : [];
  return [
    ...ticks.map((tick) => horizontal(area, y(tick), formatValue(unit, tick))),
    ...minutes(span).map(([seconds, text]) =>
      label({ x: x(seconds), y: area.y + area.height + 12 }, text, { anchor: "middle", small: true }),
    ),
    ...limits.map(({ value, color }) =>
      value === undefined || value > high || value < low
        ? ""
        : `<path d="M${area.x} ${y(value)}h${area.width}" style="stroke:${colours[color]}" stroke-dasharray="6 3"/>`,
    ),
    ...distinct(
      sorted.map(({ points, colour }) => ({ path: pathOf(points, x, y, span.stepSeconds), colour })),
    ).map(
      ({ path, colour }) => `<path d="${path}" style="stroke:${colour};fill:none" stroke-linejoin="round"/>`,
    ),
    ...legend(sorted, unit, { ...place, y: area.y + area.height + 18 }, rows),
  ].join("");
}

const lastOf = ({ points }: Line): number =>
  points.findLast(([, value]) => Number.isFinite(value))?.[1] ?? Number.NaN;

const highestOf = ({ points }: Line): number =>
  Math.max(...points.map(([, value]) => value).filter(Number.isFinite));

const legendRows = (lines: number, height: number): number =>
  Math.min(lines, Math.floor((height * legendShare) / legendRow));

const horizontal = (area: Place, y: number, text: string): Shape =>
  `<path d="M${area.x} ${y}h${area.width}" style="stroke:var(--picture-line);opacity:.25"/>${label(
    { x: area.x - 5, y: y + 3 },
    text,
    { anchor: "end", small: true },
  )}`;

/** The whole minutes of a span, as minutes since its start. */
function minutes({ from, to }: Span): readonly (readonly [number, string])[] {
  const found: [number, string][] = [];
  for (let minute = 1; from + minute * 60 < to - 5; minute++)
    found.push([from + minute * 60, `${minute} min`]);
  return found;
}

/** Removes lines that are covered by an identical one, such as those at zero; the last one is kept. */
const distinct = <Drawn extends { readonly path: string }>(lines: readonly Drawn[]): readonly Drawn[] => [
  ...new Map(lines.map((line) => [line.path, line])).values(),
];

/** A line with gaps where values are missing, without the points within a horizontal part. */
function pathOf(
  points: Line["points"],
  x: (seconds: number) => number,
  y: (value: number) => number,
  stepSeconds: number,
): string {
  const drawn: { readonly begins: boolean; readonly x: number; readonly y: number }[] = [];
  let last = -Infinity;
  for (const [seconds, value] of points) {
    if (!Number.isFinite(value)) continue;
    const next = { begins: seconds - last > stepSeconds * 1.5, x: x(seconds), y: y(value) };
    last = seconds;
    const [before, previous] = drawn.slice(-2);
    const isWithin = previous?.begins === false && before?.y === next.y && previous.y === next.y;
    if (isWithin && !next.begins) drawn.pop();
    drawn.push(next);
  }
  return drawn.map((point) => `${point.begins ? "M" : "L"}${point.x} ${point.y}`).join("");
}

type Named = Line & { readonly colour: string; readonly last: number };

function legend(lines: readonly Named[], unit: string, place: Place, rows: number): readonly Shape[] {
  if (rows === 0) return [];
  const [lastColumn, maxColumn] = [place.x + place.width - 84, place.x + place.width - 8];
  const hidden = lines.length - rows;
  const head = hidden > 0 ? `Name (${hidden} more by scrolling)` : "Name";
  const most = Math.floor((place.width - 190) / 5.1);
  return [
    label({ x: place.x + 22, y: place.y + 9 }, head, { small: true }),
    label({ x: lastColumn, y: place.y + 9 }, "Last", { small: true, anchor: "end" }),
    label({ x: maxColumn, y: place.y + 9 }, "Max", { small: true, anchor: "end" }),
    ...lines.slice(0, rows).flatMap((line, index) => {
      const y = place.y + 9 + (index + 1) * legendRow;
      const name = line.name.length > most ? `${line.name.slice(0, most - 1)}…` : line.name;
      return [
        `<path d="M${place.x + 8} ${y - 3}h10" style="stroke:${line.colour}" stroke-width="3"/>`,
        label({ x: place.x + 22, y }, name, { small: true }),
        label({ x: lastColumn, y }, formatValue(unit, line.last), { small: true, anchor: "end" }),
        label({ x: maxColumn, y }, formatValue(unit, highestOf(line)), { small: true, anchor: "end" }),
      ];
    }),
  ];
}
