import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { reporterArguments } from "../results/reporter-arguments.ts";
import {
  closingLines,
  isFailed,
  readMochaRun,
  readResults,
  resultsOfMocha,
  summaryLine,
  sumOf,
  withFailures,
  type Results,
} from "../results/results.ts";
import { results } from "./run-results.ts";

const project = new URL("../../", import.meta.url).pathname;

describe("the summary of a run", () => {
  it("a summary names skipped tests only where there are some", () => {
    expect(summaryLine(results(3))).to.equal("3 passed, 0 failed");
    expect(summaryLine(results(3, ["a"], 2))).to.equal("3 passed, 1 failed, 2 skipped");
  });

  it("the results of mocha are those of the tests when all have ended", () => {
    const run = { passed: 4, skipped: 1, failures: ["a.test.ts: a b"], timesMs: {}, hasEnded: true };
    expect(resultsOfMocha("e2e", run, 1)).to.deep.equal(results(4, ["a.test.ts: a b"], 1));
    expect(resultsOfMocha("e2e", { ...run, failures: [] }, 0)).to.deep.equal(results(4, [], 1));
  });

  it("a runner that crashes counts as failed beside the tests that failed before", () => {
    const run = { passed: 4, skipped: 0, failures: ["a"], timesMs: {}, hasEnded: false };
    expect(resultsOfMocha("e2e", run, 139)).to.deep.equal(
      results(4, ["a", "e2e: the runner ended before its tests"]),
    );
    expect(resultsOfMocha("e2e", undefined, 0).failed).to.equal(1);
    expect(
      resultsOfMocha("e2e", { ...run, failures: [], runningFile: "b.test.ts" }, 1).failures,
    ).to.deep.equal(["e2e: the runner ended before its tests, in b.test.ts"]);
    expect(resultsOfMocha("e2e", { ...run, failures: [], hasEnded: true }, 7).failures).to.deep.equal([
      "e2e: the runner ended with 7, although no test failed",
    ]);
  });

  it("a run without tests counts as failed", () => {
    const run = { passed: 0, skipped: 0, failures: [], timesMs: {}, hasEnded: true };
    expect(resultsOfMocha("e2e", run, 0).failures).to.deep.equal(["e2e: no test ran"]);
    expect(isFailed(results(0, [], 3))).to.equal(true);
  });

  it("several results add up to one", () => {
    expect(sumOf([results(3, ["a"], 1), results(4, ["b"])])).to.deep.equal(results(7, ["a", "b"], 1));
    expect(sumOf([])).to.deep.equal(results(0));
  });

  it("failed checks are added to failed tests", () => {
    expect(withFailures(results(4, ["a"]), ["lint"])).to.deep.equal(results(4, ["a", "lint"]));
  });
});

describe("the last lines of .ci/run", () => {
  const closing = (...runs: readonly (Results | undefined)[]): readonly string[] =>
    closingLines([
      { name: "test", runs },
      { name: "e2e", runs: [results(10, [], 1)] },
    ]).lines;

  it("the last lines say that nothing was flaky when every part passed at once", () => {
    expect(closing(results(5))).to.deep.equal(["flaky: 0", "15 passed, 0 failed, 1 skipped"]);
  });

  it("the last lines name tests that passed in the second run only", () => {
    expect(closing(results(3, ["a", "b"]), results(5))).to.deep.equal([
      "flaky: 2",
      "  test: a",
      "  test: b",
      "15 passed, 0 failed, 1 skipped",
    ]);
  });

  it("the last lines separate tests that failed once from those that failed repeatedly", () => {
    expect(closing(results(3, ["a", "b"]), results(3, ["b", "c"]))).to.deep.equal([
      "flaky: 1",
      "  test: a",
      "failed: 2",
      "  test: b",
      "  test: c",
      "13 passed, 2 failed, 1 skipped",
    ]);
  });

  it("a first run that left no results is flaky by the name of its part", () => {
    expect(closing(undefined, results(5))).to.deep.equal([
      "flaky: 1",
      "  test: ended without results",
      "15 passed, 0 failed, 1 skipped",
    ]);
  });

  it("a last run that left no results is a failure", () => {
    for (const runs of [[undefined], [results(3, ["a"]), undefined]]) {
      expect(closing(...runs)).to.deep.equal([
        "flaky: 0",
        "failed: 1",
        "  test: ended without results",
        "10 passed, 1 failed, 1 skipped",
      ]);
    }
    expect(closingLines([{ name: "test", runs: [undefined] }]).isFailed).to.equal(true);
  });
});

describe("the reporter for mocha", () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "reporter-"))));
  afterEach(() => rmSync(folder, { recursive: true }));

  function mocha(source: string): { readonly output: string; readonly status: number | null } {
    const file = join(folder, "some.test.mjs");
    writeFileSync(file, source);
    const reporter = reporterArguments({ shown: "dot", output: join(folder, "run.json") });
    const { status, stdout } = spawnSync(
      process.execPath,
      ["node_modules/mocha/bin/mocha.js", "--no-config", ...reporter, file],
      { cwd: project, encoding: "utf8" },
    );
    return { status, output: stdout };
  }

  it("the reporter writes counts and names, and shows dots", () => {
    const { output } = mocha(
      `describe("a", () => { it("b", () => {}); it.skip("c"); it("d", () => { throw new Error("no"); });
       describe("e", () => { before(() => { throw new Error("no"); }); it("f", () => {}); }); });`,
    );
    const run = readMochaRun(join(folder, "run.json"));
    expect(run).to.include({ passed: 1, skipped: 1, hasEnded: true });
    expect(run?.failures.map((name) => name.replace(/^.*some\.test\.mjs: /, ""))).to.deep.equal([
      "a d",
      'a e "before all" hook for "f"',
    ]);
    expect(output).to.contain(".,!").and.to.contain("1 passing");
  });

  it("the reporter adds up the time of a file, hooks included", () => {
    mocha(
      `const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
       describe("c", () => { before(() => wait(60)); it("a", () => wait(30)); it("b", () => wait(30)); });`,
    );
    const times = Object.entries(readMochaRun(join(folder, "run.json"))?.timesMs ?? {});
    expect(times.map(([file]) => file.replace(/^.*\//, ""))).to.deep.equal(["some.test.mjs"]);
    expect(times[0]?.[1]).to.be.at.least(110);
  });

  it("the reporter has named what failed when the runner is killed", () => {
    mocha(`it("a", () => { throw new Error("no"); }); it("b", () => process.kill(process.pid, "SIGKILL"));`);
    const run = readMochaRun(join(folder, "run.json"));
    expect(run).to.include({ passed: 0, hasEnded: false });
    expect(run?.failures).to.have.length(1);
    expect(run?.runningFile).to.match(/some\.test\.mjs$/);
  });

  it("the reporter says that a runner that cannot read a test has no result", () => {
    mocha(`import "./nothing.mjs";`);
    expect(readMochaRun(join(folder, "run.json"))?.hasEnded).to.not.equal(true);
  });
});

describe(".ci/run", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ci-"));
    mkdirSync(join(folder, ".ci"));
    mkdirSync(join(folder, "bin"));
    copyFileSync(join(project, ".ci/run"), join(folder, ".ci/run"));
    cpSync(join(project, "scripts/results"), join(folder, "scripts/results"), { recursive: true });
    copyFileSync(join(project, "scripts/node"), join(folder, "scripts/node"));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs .ci/run with a `make` that counts its calls for each target, and executes `body`. */
  function ci(body: string): { readonly lines: readonly string[]; readonly status: number | null } {
    const make = join(folder, "bin/make");
    writeFileSync(
      make,
      `#!/bin/sh
mkdir -p .cache calls
echo >>"calls/$1"
try=$(wc -l <"calls/$1")
write() { echo "{\\"passed\\":$1,\\"failed\\":$2,\\"skipped\\":0,\\"failures\\":$3}" >".cache/$name-results.json"; [ "$2" = 0 ]; }
name=$1
${body}
`,
    );
    chmodSync(make, 0o755);
    // Programs that the run would otherwise install.
    for (const name of ["nginx", "chromium", "promtool"]) {
      writeFileSync(join(folder, "bin", name), "#!/bin/sh\n");
      chmodSync(join(folder, "bin", name), 0o755);
    }
    const { status, stdout } = spawnSync(join(folder, ".ci/run"), [], {
      encoding: "utf8",
      env: { ...process.env, RETRY: "", PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
    });
    return { status, lines: stdout.trimEnd().split("\n") };
  }

  it("the run ends with 0 and the sum when every part passes at once", () => {
    const { status, lines } = ci("write 3 0 []");
    expect(lines.slice(-2)).to.deep.equal(["flaky: 0", "9 passed, 0 failed"]);
    expect(status).to.equal(0);
  });

  it("the run names a test that passed in its second try, and ends with 0", () => {
    const { status, lines } = ci(
      `if [ "$name$try" = e2e1 ]; then write 2 1 '["x.test.ts: x serves"]'; else write 3 0 []; fi`,
    );
    expect(lines.slice(-3)).to.deep.equal(["flaky: 1", "  e2e: x.test.ts: x serves", "9 passed, 0 failed"]);
    expect(status).to.equal(0);
  });

  it("the run asks only the second try of a part to run what failed", () => {
    const { status } = ci(
      `[ "$name$try" = test1 ] && { write 2 1 '["x.test.ts: x serves"]'; exit 1; }
[ "$RETRY" = "$([ "$name$try" != test2 ] || echo 1)" ] || exit 1
write 3 0 []`,
    );
    expect(status).to.equal(0);
  });

  it("the run fails for a part that crashes twice, after its cluster was ended", () => {
    const { status, lines } = ci(`[ "$name" = conformance ] && exit 1; write 3 0 []`);
    expect(lines.slice(-4)).to.deep.equal([
      "flaky: 0",
      "failed: 1",
      "  conformance: ended without results",
      "6 passed, 1 failed",
    ]);
    expect(status).to.equal(1);
    expect(readResults(join(folder, ".cache/cluster-down-results.json"))).to.not.equal(undefined);
  });

  it("the run reads no results of an earlier run", () => {
    mkdirSync(join(folder, ".cache"));
    for (const name of ["test", "test-first"]) {
      writeFileSync(join(folder, `.cache/${name}-results.json`), JSON.stringify(results(1, ["old"])));
    }
    const { lines } = ci(`[ "$name$try" = test1 ] && exit 1; write 3 0 []`);
    expect(lines.slice(-3)).to.deep.equal([
      "flaky: 1",
      "  test: ended without results",
      "9 passed, 0 failed",
    ]);
  });
});
