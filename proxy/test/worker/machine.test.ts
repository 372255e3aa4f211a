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
  it("the processor limit is read from cgroup v2", () => {
    const self = { "/proc/self/cgroup": "0::/\n" };
    expect(limitOf({ ...self, "/sys/fs/cgroup/cpu.max": "150000 100000" })).to.equal(1.5);
    expect(limitOf({ ...self, "/sys/fs/cgroup/cpu.max": "max 100000" })).to.equal(Number.POSITIVE_INFINITY);
    expect(limitOf(self)).to.equal(Number.POSITIVE_INFINITY);
  });

  it("the processor limit is read from cgroup v1", () => {
    const files = {
      "/proc/self/cgroup": "5:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "200000",
      "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us": "50000",
    };
    expect(limitOf(files)).to.equal(4);
    const unlimited = { "/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "-1" };
    expect(limitOf({ ...files, ...unlimited })).to.equal(Number.POSITIVE_INFINITY);
  });

  it("the processor limit is found when the cgroup path is that of the host", () => {
    const files = {
      "/proc/self/cgroup": "4:cpu:/kubepods/pod1/abc\n0::/kubepods/pod1/abc",
      "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000",
      "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
    };
    expect(limitOf(files)).to.equal(0.5);
  });

  it("the lowest processor limit of all parent cgroups applies", () => {
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

  it("a configured number of workers is used as it is", () => {
    expect(workerCount(7, { processors: 2, memoryBytes: 1 })).to.equal(7);
  });

  it("the number of workers is one per whole processor, at least one", () => {
    expect(workerCount(0, { processors: 4, memoryBytes })).to.equal(4);
    expect(workerCount(0, { processors: 2.9, memoryBytes })).to.equal(2);
    expect(workerCount(0, { processors: 0.25, memoryBytes })).to.equal(1);
  });

  it("the number of workers is limited by memory", () => {
    expect(workerCount(0, { processors: 64, memoryBytes: 512 * mebibyte })).to.equal(4);
    expect(workerCount(0, { processors: 64, memoryBytes: mebibyte })).to.equal(1);
  });
});

describe("the heap of a worker", () => {
  it("the heap of a worker leaves room for other memory, within 96 MiB to 4 GiB", () => {
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

  it("the file descriptor limit is the soft limit of the process", () => {
    expect(
      limitIn("Max open files            20000                1048576              files     "),
    ).to.equal(20_000);
    expect(
      limitIn("Max open files            unlimited            unlimited            files     "),
    ).to.equal(Number.POSITIVE_INFINITY);
  });

  it("the file descriptor limit is 1024 where the system does not report one", () => {
    expect(limitIn(undefined)).to.equal(1_024);
  });

  it("the file descriptor limit of this process is read on Linux", () => {
    expect(descriptorLimit()).to.be.greaterThan(255);
  });
});

describe("limits by memory", () => {
  const machine = (mebibytes: number) => ({ processors: 2, memoryBytes: mebibytes * mebibyte });

  it("the connection limit is one per 128 KiB of memory, at most 50 000, unless configured", () => {
    const many = Number.POSITIVE_INFINITY;
    expect(connectionLimit(0, machine(1024), many)).to.equal(8192);
    expect(connectionLimit(0, machine(65_536), 1_048_576)).to.equal(50_000);
    expect(connectionLimit(0, machine(0), many)).to.equal(1);
    expect(connectionLimit(70_000, machine(1024), 1024)).to.equal(70_000);
  });

  it("the connection limit is at most half of the file descriptors, unless configured", () => {
    expect(connectionLimit(0, machine(65_536), 1024)).to.equal(512);
    expect(connectionLimit(0, machine(65_536), 1)).to.equal(1);
    expect(connectionLimit(600, machine(65_536), 1024)).to.equal(600);
  });

  it("waiting responses may use an eighth of the memory, divided among the workers", () => {
    expect(responseMemoryBytes(2, machine(1024))).to.equal(64 * mebibyte);
  });
});
