import { figuresOf, median, type Results } from "./results.ts";

const rowHeight = 22;
const labelWidth = 170;
const barWidth = 460;
const colours = ["#2563eb", "#16a34a", "#d97706", "#9333ea", "#dc2626", "#0891b2"];

/** An SVG with a group of bars per case: each subject's first figure beside the best one of the case. */
export function plotOf({ cases }: Results): string {
  const names = [...new Set(cases.flatMap(({ subjects }) => Object.keys(subjects)))];
  const rows: string[] = [];
  let y = 30;
  for (const one of cases) {
    const [figure] = figuresOf(one);
    if (figure === undefined) continue;
    const values = names.map((name) => median((one.subjects[name] ?? []).map((sample) => figure.of(sample))));
    const known = values.filter((value) => !Number.isNaN(value));
    const best = figure.lowerIsBetter ? Math.min(...known) : Math.max(...known);
    rows.push(text(4, y + 12, one.name, "bold"));
    values.forEach((value, index) => {
      if (Number.isNaN(value)) return;
      const share = figure.lowerIsBetter ? best / value : value / best;
      const colour = colours[index % colours.length];
      rows.push(
        `<rect x="${labelWidth}" y="${y}" width="${(share * barWidth).toFixed(1)}" height="${rowHeight - 6}" fill="${colour}"/>`,
        text(labelWidth + share * barWidth + 6, y + 12, `${names[index]} ${share.toFixed(2)}`),
      );
      y += rowHeight;
    });
    y += 10;
  }
  const title = text(4, 18, "Beside the best of each case (1.00), in one run", "bold");
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${labelWidth + barWidth + 150}" height="${y}" font-family="sans-serif" font-size="12">\n${title}\n${rows.join("\n")}\n</svg>\n`;
}

const text = (x: number, y: number, content: string, weight = "normal"): string =>
  `<text x="${x.toFixed(1)}" y="${y}" font-weight="${weight}">${content.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</text>`;
