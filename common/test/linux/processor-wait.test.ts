import { expect } from "chai";
import { processorWaitMs } from "../../src/linux/processor-wait.ts";

describe("the wait of a thread for a processor", () => {
  const files: Readonly<Record<string, string>> = {
    "/proc/self/task/10/comm": "node",
    "/proc/self/task/10/schedstat": "1000000 2000000 3",
    "/proc/self/task/11/comm": "worker 0",
    "/proc/self/task/11/schedstat": "92070092 15583000000 113",
    "/proc/self/task/12/comm": "worker 1",
  };
  const waitOf = (name: string): number | undefined =>
    processorWaitMs(
      name,
      (path) => files[path],
      () => ["10", "11", "12"],
    );

  it("the wait for a processor is that of the thread with the name", () => {
    expect(waitOf("worker 0")).to.equal(15_583);
    expect(waitOf("node")).to.equal(2);
  });

  it("the wait for a processor is unknown without such a thread, or where the system does not say", () => {
    expect(waitOf("worker 1")).to.equal(undefined);
    expect(waitOf("worker 2")).to.equal(undefined);
    expect(processorWaitMs("no thread of this process")).to.equal(undefined);
  });
});
