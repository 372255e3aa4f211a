import { join, dirname } from "node:path";
import { readOptional, type ReadFile } from "./read-file.ts";

/**
 * The number of processors that the control groups of this process allow, versions 1 and 2; infinite without a limit.
 */
export function processorLimit(read: ReadFile = readOptional): number {
  let limit = Number.POSITIVE_INFINITY;
  for (const line of (read("/proc/self/cgroup") ?? "").split("\n")) {
    const [, id, controllers, path] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined) continue;
    const isVersion2 = id === "0" && controllers === "";
    if (!isVersion2 && controllers?.split(",").includes("cpu") !== true) continue;
    // A container sees its own group as the root, while /proc may still show its path on the host.
    const roots = isVersion2
      ? ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
      : ["/sys/fs/cgroup/cpu", `/sys/fs/cgroup/${controllers}`];
    for (const root of roots) {
      for (const folder of withParents(path)) {
        limit = Math.min(limit, quotaOf(join(root, folder), isVersion2, read));
      }
    }
  }
  return limit;
}

function quotaOf(folder: string, isVersion2: boolean, read: ReadFile): number {
  const [quota, period] = isVersion2
    ? (read(join(folder, "cpu.max")) ?? "").split(" ").map(Number)
    : ["cpu.cfs_quota_us", "cpu.cfs_period_us"].map((file) => Number(read(join(folder, file)) ?? Number.NaN));
  // "max" and -1 mean no limit.
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0))
    return Number.POSITIVE_INFINITY;
  return quota / period;
}

/** Returns a group and its parents, since the limits of all of them apply. */
function withParents(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...withParents(parent)];
}
