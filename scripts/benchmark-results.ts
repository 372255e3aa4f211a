import { readFileSync } from "node:fs";
import type { Results } from "../bench/compare/report/results.ts";

/** The results of the `make bench` run that the documentation shows: a `bench/results/latest.json` that was kept. */
export const benchmarkResults = (): Results =>
  JSON.parse(readFileSync(new URL("../bench/results/published.json", import.meta.url), "utf8")) as Results;
