import { expect } from "chai";
import { responseMemoryBytes, workerCount, workerHeapMegabytes } from "../../src/worker/machine.ts";

const mebibyte = 1024 * 1024;

describe("the number of workers", () => {
  const memoryBytes = 4096 * mebibyte;

  it("a configured number of workers is used as it is", () => {
    expect(workerCount(7, { processors: 2, memoryBytes: 1, sharesPorts: true })).to.equal(7);
  });

  it("the number of workers is one per whole processor, at least one", () => {
    expect(workerCount(0, { processors: 4, memoryBytes, sharesPorts: true })).to.equal(4);
    expect(workerCount(0, { processors: 2.9, memoryBytes, sharesPorts: true })).to.equal(2);
    expect(workerCount(0, { processors: 0.25, memoryBytes, sharesPorts: true })).to.equal(1);
  });

  it("there is one worker where the system cannot share a port among several, as on macOS", () => {
    expect(workerCount(0, { processors: 8, memoryBytes, sharesPorts: false })).to.equal(1);
    expect(workerCount(4, { processors: 8, memoryBytes, sharesPorts: false })).to.equal(1);
  });

  it("the number of workers is limited by memory", () => {
    expect(workerCount(0, { processors: 64, memoryBytes: 512 * mebibyte, sharesPorts: true })).to.equal(4);
    expect(workerCount(0, { processors: 64, memoryBytes: mebibyte, sharesPorts: true })).to.equal(1);
  });
});

describe("the heap of a worker", () => {
  it("the heap of a worker leaves room for other memory, within 96 MiB to 4 GiB", () => {
    expect(
      workerHeapMegabytes(2, { processors: 2, memoryBytes: 1024 * mebibyte, sharesPorts: true }),
    ).to.equal(307);
    expect(
      workerHeapMegabytes(8, { processors: 8, memoryBytes: 256 * mebibyte, sharesPorts: true }),
    ).to.equal(96);
    expect(
      workerHeapMegabytes(1, { processors: 1, memoryBytes: 65_536 * mebibyte, sharesPorts: true }),
    ).to.equal(4096);
  });
});

describe("limits by memory", () => {
  const machine = (mebibytes: number) => ({
    processors: 2,
    memoryBytes: mebibytes * mebibyte,
    sharesPorts: true,
  });

  it("waiting responses may use an eighth of the memory, divided among the workers", () => {
    expect(responseMemoryBytes(2, machine(1024))).to.equal(64 * mebibyte);
  });
});
