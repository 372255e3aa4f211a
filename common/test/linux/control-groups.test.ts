import { expect } from "chai";
import { processorLimit } from "../../src/linux/control-groups.ts";

const limitOf = (files: Readonly<Record<string, string>>): number => processorLimit((path) => files[path]);

describe("the processors of a container", () => {
  it("the processor limit is read from cgroup v2", () => {
    const self = { "/proc/self/cgroup": "0::/\n" };
    expect(limitOf({ ...self, "/sys/fs/cgroup/cpu.max": "150000 100000" })).to.equal(1.5);
    expect(limitOf({ ...self, "/sys/fs/cgroup/cpu.max": "max 100000" })).to.equal(Number.POSITIVE_INFINITY);
    expect(limitOf(self)).to.equal(Number.POSITIVE_INFINITY);
  });

  it("there is no processor limit on a system without control groups", () => {
    expect(limitOf({})).to.equal(Number.POSITIVE_INFINITY);
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
