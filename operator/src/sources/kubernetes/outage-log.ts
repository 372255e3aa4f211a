import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";

/** Logs the beginning and the end of an outage of an operation that is retried. */
export type OutageLog = {
  failed(fields: LogFields): void;
  works(): void;
};

/**
 * The number of failures that make an outage. A single failure is not one: a restart of an API server ends every watch
 * once.
 */
const failuresUntilWarning = 2;

/**
 * Logs a warning when a second attempt has failed, too, and an info line when the outage is over; everything else is
 * logged at debug.
 */
export function createOutageLog(log: Logger, what: string, fields: LogFields = {}): OutageLog {
  let failures = 0;
  return {
    failed(details) {
      failures++;
      log[failures === failuresUntilWarning ? "warn" : "debug"]({ ...fields, ...details }, `${what} fails`);
    },
    works() {
      if (failures >= failuresUntilWarning) log.info({ ...fields, failures }, `${what} works again`);
      failures = 0;
    },
  };
}
