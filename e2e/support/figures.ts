/** Figures of the fault tests, kept in a file until the run prints them as one table. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { root } from "./provider.ts";
import { describeFailures, type TrafficReport } from "./traffic.ts";

export type Figure = {
  readonly test: string;
  readonly what: string;
  readonly value: string;
  /** The limit of the value as text; empty without one. */
  readonly limit: string;
};

const file = join(root, ".cache/e2e/figures.jsonl");

export function clearFigures(): void {
  rmSync(file, { force: true });
}

export function record(figure: Figure): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(figure)}\n`);
}

export const recordTraffic = (test: string, report: TrafficReport): void =>
  record({
    test,
    what: "failed requests",
    value: `${report.failed} of ${report.sent}${report.failed > 0 ? `: ${describeFailures(report)}` : ""}`,
    limit: "0",
  });

/** The time by which a machine with other load can be late before the gateway is considered at fault. */
const loadAllowanceMs = 10_000;

/** Records a duration, and fails when it exceeds its limit by more than a busy machine explains. */
export function expectWithin(test: string, what: string, tookMs: number, limitMs: number): void {
  const over = tookMs > limitMs ? " (over the limit)" : "";
  record({ test, what, value: `${seconds(tookMs)}${over}`, limit: `${limitMs / 1000} s` });
  expect(tookMs, `${test}: ${what}, in ms`).to.be.at.most(limitMs + loadAllowanceMs);
}

/** Records a duration without a limit. */
export const recordTime = (test: string, what: string, tookMs: number): void =>
  record({ test, what, value: seconds(tookMs), limit: "" });

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

export function readFigures(): readonly Figure[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Figure);
}

/** One line per figure, in columns. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = [
    ["fault", "figure", "value", "limit"],
    ...figures.map((f) => [f.test, f.what, f.value, f.limit]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
}
