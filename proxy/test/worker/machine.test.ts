import { expect } from "chai";
import {
  connectionLimit,
  descriptorLimit,
  processorLimit,
  responseMemoryBytes,
  workerCount,
  workerHeapMegabytes,
} from "../../src/worker/machine.ts";

const mebibyte = 1024 * 1024;

const limitOf = (files: Readonly<Record<string, string>>): number => processorLimit((path) => files[path]);

describe("the processors of a container", () => {
  it("are those of its control group, version 2", () => {
    const self = { "/proc/self/cgroup": "0::/\n" };
    expect(limitOf({ ...self, "/sys/fs/cgroup/cpu.max": "150000 100000" })).to.equal(1.5);
    expect(limitOf({ ...self, "/sys/fs/cgroup/cpu.max": "max 100000" })).to.equal(Number.POSITIVE_INFINITY);
    expect(limitOf(self)).to.equal(Number.POSITIVE_INFINITY);
  });

  it("are those of its control group, version 1", () => {
    const files = {
      "/proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "200000",
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "50000",
    };
    expect(limitOf(files)).to.equal(4);
    const unlimited = { "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "-1" };
    expect(limitOf({ ...files, ...unlimited })).to.equal(Number.POSITIVE_INFINITY);
  });

  it("are found where the path of the group is that of the host", () => {
    const files = {
      "/proc/self/cgroup": "4:cpu:/kubepods/pod1/abc\n0::/kubepods/pod1/abc",
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    };
    expect(limitOf(files)).to.equal(0.5);
  });

  it("are bounded by every group that it is in", () => {
    const files = {
      "/proc/self/cgroup": "0::/pod/container",
      "/sys/fs/cgroup/pod/container/cpu.max": "800000 100000",
      "/sys/fs/cgroup/pod/cpu.max": "300000 100000",
      "/sys/fs/cgroup/cpu.max": "max 100000",
    };
    expect(limitOf(files)).to.equal(3);
  });
});

describe("the number of workers", () => {
  const memoryBytes = 4096 * mebibyte;

  it("is what was asked for", () => {
    expect(workerCount(7, { processors: 2, memoryBytes: 1 })).to.equal(7);
  });

  it("is one per whole processor, at least one", () => {
    expect(workerCount(0, { processors: 4, memoryBytes })).to.equal(4);
    expect(workerCount(0, { processors: 2.9, memoryBytes })).to.equal(2);
    expect(workerCount(0, { processors: 0.25, memoryBytes })).to.equal(1);
  });

  it("is not more than there is memory for", () => {
    expect(workerCount(0, { processors: 64, memoryBytes: 512 * mebibyte })).to.equal(4);
    expect(workerCount(0, { processors: 64, memoryBytes: mebibyte })).to.equal(1);
  });
});

describe("the heap of a worker", () => {
  it("leaves room for everything else, and has bounds", () => {
    expect(workerHeapMegabytes(2, { processors: 2, memoryBytes: 1024 * mebibyte })).to.equal(307);
    expect(workerHeapMegabytes(8, { processors: 8, memoryBytes: 256 * mebibyte })).to.equal(96);
    expect(workerHeapMegabytes(1, { processors: 1, memoryBytes: 65_536 * mebibyte })).to.equal(4096);
  });
});

describe("the descriptors of a process", () => {
  const limitIn = (line: string | undefined): number =>
    descriptorLimit(() =>
      line === undefined ? undefined : `Limit  Soft Limit  Hard Limit  Units\n${line}\n`,
    );

  it("are those of its soft limit", () => {
    expect(
      limitIn("Max open files            20000                1048576              files     "),
    ).to.equal(20_000);
    expect(
      limitIn("Max open files            unlimited            unlimited            files     "),
    ).to.equal(Number.POSITIVE_INFINITY);
  });

  it("are taken for few where the system says nothing", () => {
    expect(limitIn(undefined)).to.equal(1_024);
  });

  it("are known of this process on Linux", () => {
    expect(descriptorLimit()).to.be.greaterThan(255);
  });
});

describe("what the memory of a machine carries", () => {
  const machine = (mebibytes: number) => ({ processors: 2, memoryBytes: mebibytes * mebibyte });

  it("is a connection for each 128 KiB, at most 50,000, unless a number was asked for", () => {
    const many = Number.POSITIVE_INFINITY;
    expect(connectionLimit(0, machine(1024), many)).to.equal(8192);
    expect(connectionLimit(0, machine(65_536), 1_048_576)).to.equal(50_000);
    expect(connectionLimit(0, machine(0), many)).to.equal(1);
    expect(connectionLimit(70_000, machine(1024), 1024)).to.equal(70_000);
  });

  it("has no more connections than half of the descriptors, unless a number was asked for", () => {
    expect(connectionLimit(0, machine(65_536), 1024)).to.equal(512);
    expect(connectionLimit(0, machine(65_536), 1)).to.equal(1);
    expect(connectionLimit(600, machine(65_536), 1024)).to.equal(600);
  });

  it("is an eighth of the memory for waiting responses, shared by the workers", () => {
    expect(responseMemoryBytes(2, machine(1024))).to.equal(64 * mebibyte);
  });
});
