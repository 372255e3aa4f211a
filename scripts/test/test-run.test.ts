import { globSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runCommand } from "../test-run/command.ts";
import { inLanes } from "../test-run/lanes.ts";
import { partsOf } from "../test-run/parts.ts";

const project = join(import.meta.dirname, "../..");

describe("the parts of make test", () => {
  it("every test of the project is in exactly one part", () => {
    const files = globSync("{proto,common,operator,proxy,cli,scripts}/test/**/*.test.ts", { cwd: project });
    const parts = partsOf(files);
    expect(parts.flatMap((part) => part.files)).to.have.members(files);
    expect(parts.length).to.be.greaterThan(4);
  });

  it("a file belongs to the longest folder that holds it", () => {
    const parts = partsOf([
      "proxy/test/b.test.ts",
      "proxy/test/http/a.test.ts",
      "proxy/test/http2/a.test.ts",
    ]);
    expect(parts).to.have.deep.members([
      { name: "proxy/test/http", files: ["proxy/test/http/a.test.ts"] },
      { name: "proxy", files: ["proxy/test/b.test.ts", "proxy/test/http2/a.test.ts"] },
    ]);
  });

  it("a file that would never run is an error", () => {
    expect(() => partsOf(["other/test/a.test.ts"])).to.throw("other/test/a.test.ts is in no folder");
  });
});

describe("lanes", () => {
  it("no more than the lanes work at once, in the order of the items", async () => {
    const begun: string[] = [];
    const gates = new Map<string, () => void>();
    const all = inLanes(["a", "b", "c"], 2, async (item) => {
      begun.push(item);
      await new Promise<void>((open) => gates.set(item, open));
      return item.toUpperCase();
    });
    expect(begun).to.deep.equal(["a", "b"]);
    gates.get("b")?.();
    while (begun.length < 3) await new Promise(setImmediate);
    gates.get("c")?.();
    gates.get("a")?.();
    expect(begun).to.deep.equal(["a", "b", "c"]);
    expect(await all).to.deep.equal(["A", "B", "C"]);
  });

  it("fewer items than lanes are no error", async () => {
    expect(await inLanes([1], 4, async (item) => item)).to.deep.equal([1]);
  });
});

describe("a command of make test", () => {
  const node = (source: string): readonly string[] => [process.execPath, "--eval", source];

  it("a command gives its status and all that it printed", async () => {
    const { status, output } = await runCommand(
      node('console.log("out"); console.error("err"); process.exitCode = 3'),
    );
    expect(status).to.equal(3);
    expect(output).to.contain("out\n").and.to.contain("err\n");
  });

  it("a program that does not exist has failed by its name", async () => {
    const { status, output } = await runCommand(["./no-such-program"]);
    expect(status).to.equal(1);
    expect(output).to.contain("./no-such-program cannot be started");
  });

  it("a program that blocks is killed at its limit, with what it started", async () => {
    const child = `require("child_process").spawnSync(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "inherit" })`;
    const { status, output } = await runCommand(node(child), { limitMs: 300 });
    expect(status).to.equal(1);
    expect(output).to.equal("\nIt has not ended within 0.005 min, and was killed.\n");
  });

  it("a program that does not end after its result is killed, with what it started", async () => {
    const child = `require("child_process").spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"], { stdio: "inherit" })`;
    const { status, output } = await runCommand(node(child), { hasResult: () => true, lingerMs: 0 });
    expect(status).to.equal(1);
    expect(output).to.contain("still open");
  });
});
