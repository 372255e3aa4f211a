import { bar, label, picture, type Shape } from "./svg.ts";
import { numbersOf, tableAfter } from "./tables.ts";

const left = 400;
const right = 670;
const ticks = [0.01, 0.1, 1, 10] as const;

/** The position of a duration on a logarithmic axis from 0.01 to 30 seconds. */
const xOf = (seconds: number): number =>
  left + ((Math.log10(Math.max(seconds, 0.01)) + 2) / (Math.log10(30) + 2)) * (right - left);

/** Shows the duration of each fault, from the table "What faults cost" of docs/operations.md. */
export function faultsPicture(operationsPage: string): string {
  let fault = "";
  const shapes: Shape[] = [];
  let y = 40;
  for (const row of tableAfter(operationsPage, "## What faults cost")) {
    const measured = numbersOf(row["Measured"] ?? "");
    if (row["Fault"] !== "" && row["Fault"] !== undefined) fault = row["Fault"];
    const [least] = measured;
    const most = measured.at(-1);
    if (least === undefined || most === undefined) continue;
    const [limit] = numbersOf(row["Limit"] ?? "");
    // Several figures of one fault share its name.
    const isFirst = row["Fault"] !== "";
    if (isFirst) shapes.push(label({ x: 10, y: y + 12 }, fault, { bold: true }));
    if (isFirst) y += 18;
    const start = least === most ? left : xOf(least);
    shapes.push(
      label({ x: 22, y: y + 12 }, row["Until"] ?? "", { soft: true }),
      bar({ x: start, y: y + 2, width: xOf(most) - start, height: 12 }, "strong"),
      ...(limit === undefined ? [] : [bar({ x: xOf(limit), y: y - 1, width: 2, height: 18 }, "line")]),
      label({ x: 750, y: y + 12 }, row["Measured"] ?? "", { anchor: "end", soft: true }),
    );
    y += 24;
  }
  const grid = ticks.flatMap((tick) => [
    `<path d="M${xOf(tick).toFixed(1)} 30V${y}" style="stroke:var(--picture-line);opacity:.3"/>`,
    label({ x: Number(xOf(tick).toFixed(1)), y: 22 }, `${tick} s`, { anchor: "middle", soft: true }),
  ]);
  shapes.push(
    bar({ x: 10, y: y + 4, width: 2, height: 16 }, "line"),
    label({ x: 20, y: y + 16 }, "limit of the test", { soft: true }),
  );
  return picture(
    y + 28,
    "Seconds from each fault until it has no more effect, on a logarithmic axis, with the limit of the test as a line. The table below has the same figures.",
    [...grid, ...shapes],
  );
}
