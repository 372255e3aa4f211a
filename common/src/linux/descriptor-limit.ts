import { readOptional, type ReadFile } from "./read-file.ts";

/** The limit where no system reports one. */
const usualDescriptors = 1_024;

/**
 * Descriptors that this process may open: the soft limit, which Node raises to the hard one when it starts. Elsewhere than on
 * Linux it is what Node's diagnostic report says.
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
  // Its types do not know all that it has.
  const report = process.report as typeof process.report & { excludeNetwork: boolean };
  // Interfaces and their names take time and are not wanted.
  const { excludeNetwork } = report;
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  report.excludeNetwork = excludeNetwork;
  return userLimits?.open_files?.soft;
}
