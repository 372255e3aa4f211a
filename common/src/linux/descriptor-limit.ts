import { readOptional, type ReadFile } from "./read-file.ts";

/** The limit if the system reports none. */
const usualDescriptors = 1_024;

/**
 * The number of descriptors that this process may open: the soft limit, which Node raises to the hard one at its start.
 * On systems other than Linux, it is read from Node's diagnostic report.
 */
export function descriptorLimit(
  read: ReadFile = readOptional,
  reported: () => unknown = reportedLimit,
): number {
  const [, soft] = /^Max open files +(\d+|unlimited)/m.exec(read("/proc/self/limits") ?? "") ?? [];
  const limit = soft ?? reported();
  if (limit === "unlimited") return Number.POSITIVE_INFINITY;
  const count = Number(limit);
  return Number.isSafeInteger(count) && count > 0 ? count : usualDescriptors;
}

function reportedLimit(): unknown {
  // The type of `process.report` lacks this property.
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  // Collecting the network interfaces and their names takes time, and they are not used.
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  report.excludeNetwork = excludeNetwork;
  return userLimits?.open_files?.soft;
}
