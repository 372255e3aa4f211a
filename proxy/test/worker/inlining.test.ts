import { spawnSync } from "node:child_process";
import { expect } from "chai";

const module = new URL("../../src/worker/inlining.ts", import.meta.url).href;

describe("inlineMore", () => {
  it("the Node.js that is shipped knows the setting of the compiler", () => {
    const program = `(await import(${JSON.stringify(module)})).inlineMore();`;
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    // V8 reports settings that it does not know, and goes on.
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: "" });
  });
});
