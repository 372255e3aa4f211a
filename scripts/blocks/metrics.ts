/** Finds mistakes in PromQL blocks, which may use only metrics and recording rules of this project. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Block } from "./block.ts";

const root = resolve(import.meta.dirname, "../..");

export function mistakesOfMetrics({ text }: Block): readonly string[] {
  const known = ["docs/reference/metrics.md", ...globSync("config/chart/rules/*.yaml", { cwd: root })]
    .map((file) => readFileSync(join(root, file), "utf8"))
    .join("\n");
  const named = [...text.matchAll(/\bsvc_[a-z0-9_:]+/g)].map(([name]) => name);
  if (named.length === 0) return ["no metric, expected one at least"];
  // Counters and histograms have suffixes that the table of metrics omits.
  return named
    .filter((name) => !new RegExp(`\\b${name.replace(/_(?:bucket|sum|count)$/, "")}\\b`).test(known))
    .map((name) => `${name} is no metric and no recording rule`);
}
