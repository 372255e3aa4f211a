import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

type Statements = { readonly total: number; readonly covered: number };

/** The least percentage of statements that the tests must run, by folder; "" is everything under src/. */
const floors: Readonly<Record<string, number>> = {
  "operator/src/translate": 90,
  "proxy/src/filters": 90,
  "proxy/src/routing": 90,
  "": 80,
};

export type CoverageLine = { readonly name: string; readonly isMet: boolean; readonly text: string };

/**
 * The coverage that c8 has reported in `folder`, compared with the floors. Without its report, nothing counts as
 * covered.
 */
export function checkCoverage(folder: string): readonly CoverageLine[] {
  const files = readCoverage(folder);
  return Object.entries(floors).map(([prefix, floor]) => {
    const sum = { total: 0, covered: 0 };
    for (const [file, { total, covered }] of files) {
      if (prefix !== "" && !file.startsWith(`${prefix}/`)) continue;
      sum.total += total;
      sum.covered += covered;
    }
    const percent = sum.total === 0 ? 0 : (100 * sum.covered) / sum.total;
    const name = `coverage of ${prefix === "" ? "everything" : prefix}`;
    const text = `${name}: ${percent.toFixed(1)} % of statements (at least ${floor} %)`;
    return { name, isMet: percent >= floor, text };
  });
}

/** Statements by file, relative to the working directory; empty without a report. */
function readCoverage(folder: string): ReadonlyMap<string, Statements> {
  try {
    const report = JSON.parse(readFileSync(join(folder, "coverage-summary.json"), "utf8")) as Readonly<
      Record<string, { readonly statements: Statements }>
    >;
    const files = Object.entries(report).filter(([file]) => file !== "total");
    return new Map(files.map(([file, { statements }]) => [relative("", file), statements]));
  } catch {
    return new Map();
  }
}
