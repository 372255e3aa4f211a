/**
 * Prints the last lines of `.ci/run` from the results that the given parts have left in .cache. Exits with 1 when one
 * of them failed.
 */
import { existsSync } from "node:fs";
import { closingLines, firstResultsFile, readResults, resultsFile, type Part } from "./results.ts";

const parts = process.argv.slice(2).map((name): Part => {
  const first = existsSync(firstResultsFile(name)) ? [readResults(firstResultsFile(name))] : [];
  return { name, runs: [...first, readResults(resultsFile(name))] };
});
const { lines, isFailed } = closingLines(parts);
for (const line of lines) console.log(line);
process.exitCode = isFailed ? 1 : 0;
