/**
 * A reporter of mocha that shows progress as one of mocha's own does (reporter option `shown`) and writes a MochaRun
 * to the file of the option `output`: at the start, with each file of tests, after each failure and at the end, so
 * that a run that is ended from outside has recorded its failures until then, and where it stopped.
 */
import { relative } from "node:path";
import Mocha from "mocha";
import type { ReporterOptions } from "./reporter-arguments.ts";
import { writeResults } from "./results.ts";

/** The function that mocha calls with `new`. It returns the reporter that shows the progress. */
function report(runner: Mocha.Runner, options: Mocha.MochaOptions): Mocha.reporters.Base {
  const { shown, output } = options.reporterOptions as ReporterOptions;
  const failures = new Set<string>();
  const timesMs: Record<string, number> = {};
  let [passed, skipped] = [0, 0];
  let runningFile: string | undefined;
  const write = (hasEnded: boolean): void =>
    writeResults(output, { passed, skipped, failures: [...failures], timesMs, runningFile, hasEnded });
  const begin = (begun: Mocha.Suite | Mocha.Test): void => {
    const file = fileOf(begun);
    if (file === undefined || file === runningFile) return;
    runningFile = file;
    write(false);
  };
  const addTime = (ended: Mocha.Runnable): void => {
    const file = fileOf(ended);
    if (file !== undefined) timesMs[file] = Math.round((timesMs[file] ?? 0) + (ended.duration ?? 0));
  };
  runner
    .on("suite", begin)
    .on("test", begin)
    .on("pass", () => void (passed += 1))
    .on("pending", () => void (skipped += 1))
    .on("test end", addTime)
    .on("hook end", addTime)
    .on("fail", (test) => {
      failures.add(nameOf(test));
      write(false);
    })
    .on("end", () => write(true));
  write(false);
  return new Mocha.reporters[shown === "dot" ? "Dot" : "Spec"](runner, options);
}

/** The path from the root; undefined for the outermost suite and for hooks of mocha itself, which are in no file. */
const fileOf = ({ file }: Mocha.Runnable | Mocha.Suite): string | undefined =>
  file === undefined ? undefined : relative("", file);

function nameOf(test: Mocha.Runnable): string {
  const file = fileOf(test);
  return `${file === undefined ? "" : `${file}: `}${test.fullTitle()}`;
}

// The value that `require()` in mocha returns.
export { report as "module.exports" };
