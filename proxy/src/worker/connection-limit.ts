import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { descriptorShares } from "./descriptor-shares.ts";
import type { Machine } from "./machine.ts";

/** The memory budget per connection: an idle one over TLS takes about 80 KiB, and the rest is for the proxy itself. */
const memoryPerConnectionBytes = 128 * 1024;
const maxDefaultConnections = 50_000;

/**
 * The value of `--proxy-max-connections`: the configured number or, if that is 0, the number that the memory of the
 * process allows. It is reduced to what the file descriptors of the process allow, which is logged.
 */
export function connectionLimit(
  asked: number,
  available: Pick<Machine, "memoryBytes"> & { readonly descriptors: number; readonly workers: number },
  log: Pick<Logger, "warn">,
): number {
  const { memoryBytes, descriptors, workers } = available;
  const wanted =
    asked > 0
      ? asked
      : Math.max(1, Math.min(maxDefaultConnections, Math.floor(memoryBytes / memoryPerConnectionBytes)));
  const { connections } = descriptorShares(descriptors, workers);
  if (wanted <= connections) return wanted;
  log.warn(
    { connections, wanted_connections: wanted, descriptors },
    "the file descriptors that the process may open (ulimit -n) allow fewer client connections than --proxy-max-connections or its default: further ones are closed",
  );
  return connections;
}
