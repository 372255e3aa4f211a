/**
 * A reporter of mocha that shows progress as one of mocha's own does (reporter option `shown`) and writes a MochaRun to the
 * file of the option `output`: at the start, after each failure and at the end, so that a run that is ended from outside has
 * named what failed until then.
 */
import { relative } from "node:path";
import Mocha from "mocha";
import type { ReporterOptions } from "./reporter-arguments.ts";
import { writeResults } from "./results.ts";

/** What mocha calls with `new`: it gives the reporter that shows the progress. */
function report(runner: Mocha.Runner, options: Mocha.MochaOptions): Mocha.reporters.Base {
  const { shown, output } = options.reporterOptions as ReporterOptions;
  const failures = new Set<string>();
  let [passed, skipped] = [0, 0];
  const write = (hasEnded: boolean): void =>
    writeResults(output, { passed, skipped, failures: [...failures], hasEnded });
  runner
    .on("pass", () => void (passed += 1))
    .on("pending", () => void (skipped += 1))
    .on("fail", (test) => {
      failures.add(nameOf(test));
      write(false);
    })
    .on("end", () => write(true));
  write(false);
  return new Mocha.reporters[shown === "dot" ? "Dot" : "Spec"](runner, options);
}

const nameOf = (test: Mocha.Runnable): string =>
  `${test.file === undefined ? "" : `${relative("", test.file)}: `}${test.fullTitle()}`;

// What mocha's require() gets.
export { report as "module.exports" };
