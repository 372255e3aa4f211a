import { dot, label, picture, rule, type Shape } from "../../../scripts/pictures/svg.ts";
import { figuresOf, own, ratioOf, type CaseResult, type Results } from "./results.ts";

/** The lowest ratio to the reference on the axis. Values outside the axis are drawn at its ends. */
const least = 0.125;
const most = 8;
const left = 330;
const right = 740;
const rowHeight = 22;
/** The approximate width of a character of the small text. */
const characterWidth = 6.5;

const xOf = (ratio: number): number => {
  const share = Math.log(Math.min(Math.max(ratio, least), most) / least) / Math.log(most / least);
  return Number((left + share * (right - left)).toFixed(1));
};

/**
 * The subject with which every other one is compared. Without its figures, the first other subject than this proxy
 * replaces it.
 */
const reference = "nginx";

/**
 * An SVG with a row for each case, which shows the first figure of each subject relative to that of nginx, on a
 * logarithmic axis: this proxy as a disc, the others as the first letter of their name.
 */
export function plotOf({ cases }: Results): string {
  const ticks = [0.125, 0.25, 0.5, 1, 2, 4, 8];
  const bottom = 44 + cases.length * rowHeight;
  const shapes: Shape[] = ticks.flatMap((tick) => [
    rule({ x: xOf(tick), y: 34 }, { x: xOf(tick), y: bottom }, tick === 1),
    label({ x: xOf(tick), y: 28 }, tick === 1 ? "nginx" : String(tick), { anchor: "middle", soft: true }),
  ]);
  const others = [...new Set(cases.flatMap(({ subjects }) => Object.keys(subjects)))].filter(
    (name) => name !== own && name !== reference,
  );
  shapes.push(dot({ x: 16, y: 24 }, "strong"), ...legendOf(others));
  cases.forEach((one, index) => shapes.push(...rowOf(one, others, 44 + index * rowHeight)));
  return picture(
    bottom + 8,
    "Each proxy beside nginx, case by case, on a logarithmic axis; further to the right is better. The table has the same figures.",
    shapes,
  );
}

/** The legend of all marks, in one line beginning at the disc. */
function legendOf(others: readonly string[]): readonly Shape[] {
  let x = 28;
  return ["this proxy", ...others.map((name) => `${letterOf(name)} ${name}`)].map((text) => {
    const shape = label({ x, y: 28 }, text, { soft: true });
    x += 24 + text.length * characterWidth;
    return shape;
  });
}

function rowOf(one: CaseResult, others: readonly string[], y: number): readonly Shape[] {
  const [figure] = figuresOf(one);
  const base = one.subjects[reference] ?? others.map((name) => one.subjects[name]).find(Boolean);
  const shapes = [label({ x: 10, y: y + 15 }, one.title, { soft: true })];
  if (figure === undefined || base === undefined) return shapes;
  const positionOf = (name: string): number | undefined => {
    const { median } = ratioOf(figure, one.subjects[name] ?? [], base);
    return Number.isNaN(median) ? undefined : xOf(median);
  };
  const x = positionOf(own);
  if (x !== undefined) shapes.push(dot({ x, y: y + 11 }, "strong"));
  // Letters are drawn on the translucent disc, because the ratios of the best proxies are close to each other.
  for (const name of others) {
    const place = positionOf(name);
    if (place !== undefined)
      shapes.push(label({ x: place, y: y + 15 }, letterOf(name), { anchor: "middle", soft: true }));
  }
  return shapes;
}

const letterOf = (name: string): string => name.charAt(0).toUpperCase();
