import { spawnSync } from "node:child_process";
import { expect } from "chai";

const module = new URL("../../src/worker/engine-flags.ts", import.meta.url).href;

describe("setEngineFlags", () => {
  it("the Node.js that is shipped knows the flags of V8 that a proxy sets", () => {
    const program = `(await import(${JSON.stringify(module)})).setEngineFlags();`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    // V8 reports flags that it does not know, and goes on.
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: "" });
  });
});
