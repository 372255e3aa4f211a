import { bar, label, picture, type Shape } from "./svg.ts";
import { numbersOf, tableAfter } from "./tables.ts";

const left = 110;
const longest = 480;

/** Each proxy beside the best one of its case, from the table "Last figures" of docs/benchmarks.md. */
export function benchmarksPicture(benchmarksPage: string): string {
  const shapes: Shape[] = [];
  let y = 10;
  for (const row of tableAfter(benchmarksPage, "## Last figures")) {
    // Columns of ratios compare columns with each other.
    const figures = Object.entries(row).flatMap(([name, cell]) => {
      const [figure] = name === "Case" || name.startsWith("/") ? [] : numbersOf(cell);
      return figure === undefined ? [] : [{ name, figure }];
    });
    const best = Math.max(...figures.map(({ figure }) => figure));
    shapes.push(label({ x: 10, y: y + 14 }, row["Case"] ?? "", { bold: true }));
    y += 24;
    for (const { name, figure } of figures) {
      const length = (figure / best) * longest;
      shapes.push(
        label({ x: left - 8, y: y + 12 }, name, { anchor: "end", soft: true }),
        bar({ x: left, y, width: length, height: 15 }, name === "This proxy" ? "strong" : "line"),
        label(
          { x: Number((left + length + 6).toFixed(1)), y: y + 12 },
          `${figure.toLocaleString("en")} (${(figure / best).toFixed(2)})`,
          {
            soft: true,
          },
        ),
      );
      y += 21;
    }
    y += 8;
  }
  return picture(
    y,
    "Requests or calls per second of processor time, each beside the best proxy of its case. The table below has the same figures.",
    shapes,
  );
}
