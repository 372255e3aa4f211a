import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";

const program = new URL("./closed-proxy-program.ts", import.meta.url);

describe("a proxy that was closed", () => {
  it("leaves no socket, no timer and nothing else behind that would keep its process", async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program.pathname]);
    expect(stderr).to.equal("");
    expect(JSON.parse(stdout)).to.deep.equal({ resources: [], timers: [] });
  });
});
