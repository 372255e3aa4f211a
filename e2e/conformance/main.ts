/**
 * `make conformance`: runs the conformance suite of the Gateway API against a cluster (support/campaign.ts), with all
 * profiles of gateways. MODE is `shared` or `dedicated` proxies. TESTS names tests, SELECTION=steady selects those
 * that .ci/run runs; without either the whole suite runs. REPORT=1 writes the report of the whole suite to
 * docs/conformance instead of .cache.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Results } from "../../scripts/results/results.ts";
import { deployRelease, testOnCluster } from "../support/campaign.ts";
import { clusterEnvironment, provider, root, showProvider } from "../support/provider.ts";
import { run } from "../support/run-program.ts";
import { deleteLeftovers } from "./leftovers.ts";
import { modeOf, prepareMode } from "./mode.ts";
import { isOfGateway, outcomeReader, type Outcome } from "./outcomes.ts";
import { implementationArguments, reportFile } from "./report.ts";
import { unsteadyTests } from "./steady.ts";

const profiles = ["GATEWAY-HTTP", "GATEWAY-GRPC", "GATEWAY-TLS", "GATEWAY-TCP", "GATEWAY-UDP"];
const suiteLimitMs = 75 * 60_000;
const work = join(root, ".cache/conformance");

/** A usable cluster IP for the test that requests one, and an address outside the range of the cluster. */
const usableAddress = "10.96.77.7";
const unusableAddress = "203.0.113.7";

const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

async function runSuite(): Promise<Results> {
  const mode = modeOf(process.env["MODE"] ?? "shared");
  const selection = selectionOf(process.env["TESTS"] ?? "", process.env["SELECTION"] ?? "");
  const isPublished = isReportWanted(process.env["REPORT"] ?? "", selection);
  await showProvider("conformance");
  await deployRelease();
  const gatewayClass = await prepareMode(mode);
  await deleteLeftovers();

  const report = isPublished ? reportFile(mode) : join(work, `${mode}-report.yaml`);
  for (const folder of [work, dirname(report)]) mkdirSync(folder, { recursive: true });
  const outcomes: Outcome[] = [];
  const begunAt = Date.now();
  const suite = await run(
    join(await provider("bin"), "conformance.test"),
    [
      ...["-test.run=^TestConformance$", "-test.v", `-test.timeout=${suiteLimitMs}ms`],
      `-gateway-class=${gatewayClass}`,
      `-conformance-profiles=${profiles.join()}`,
      // Some tests of the suite grant references that other tests require not to be granted.
      "-disable-parallel-tests",
      `-usable-address=${usableAddress}`,
      `-unusable-address=${unusableAddress}`,
      `-report-output=${report}`,
      ...implementationArguments(mode),
      ...selection,
    ],
    {
      env: await clusterEnvironment(),
      timeoutMs: suiteLimitMs + 60_000,
      onOutput: outcomeReader((outcome) => {
        if (!isOfGateway(outcome)) return;
        outcomes.push(outcome);
        printLine(lineOf(outcome));
      }),
    },
  );
  const log = join(work, `${mode}.log`);
  writeFileSync(log, suite.stdout + suite.stderr);
  const took = ((Date.now() - begunAt) / 1000).toFixed(0);
  printLine(`\n${mode} proxies, ${took} s; log: ${relative(root, log)}, report: ${relative(root, report)}`);
  return resultsOf(outcomes, suite.status);
}

/** The flags that select tests; empty to run all. */
function selectionOf(tests: string, selection: string): readonly string[] {
  if (selection !== "" && selection !== "steady")
    throw new Error(`SELECTION is "${selection}", expected steady`);
  const names = tests.split(/[\s,]+/).filter((name) => name !== "");
  if (names.length > 0) return [`-only-tests=${names.join()}`];
  return selection === "" ? [] : [`-skip-tests=${unsteadyTests.join()}`];
}

/** Whether the report replaces the one in docs/conformance, which only a run of the whole suite can. */
function isReportWanted(wanted: string, selection: readonly string[]): boolean {
  if (wanted === "") return false;
  if (wanted !== "1") throw new Error(`REPORT is "${wanted}", expected 1`);
  if (selection.length > 0)
    throw new Error("REPORT=1 needs the whole suite, expected neither TESTS nor SELECTION");
  return true;
}

const lineOf = ({ test, result, seconds, missing = [] }: Outcome): string =>
  (result === "passed" ? "ok" : result.toUpperCase()).padEnd(12) +
  `${seconds.toFixed(1).padStart(6)} s  ${test}${missing.length > 0 ? `: needs ${missing.join(", ")}` : ""}`;

function resultsOf(outcomes: readonly Outcome[], status: number): Results {
  const namesOf = (...results: readonly Outcome["result"][]): string[] =>
    outcomes.filter(({ result }) => results.includes(result)).map(({ test }) => test);
  const failures = namesOf("failed");
  // If the suite ends before its tests do, it names no failed test.
  if (failures.length === 0 && status !== 0) failures.push(`the suite ended with ${status}`);
  return {
    passed: namesOf("passed").length,
    failed: failures.length,
    skipped: namesOf("skipped", "unsupported").length,
    failures,
  };
}

process.exitCode = await testOnCluster("conformance", runSuite);
