import type { LogFields, Logger } from "@svc-gateway/common/telemetry/logger.ts";

/** Tells of something that may fail for long and is tried again and again: when it begins and when it is over. */
export type OutageLog = {
  failed(fields: LogFields): void;
  works(): void;
};

/** The first failure is a warning, the following ones are for debugging, and the end is worth an info. */
export function createOutageLog(log: Logger, what: string, fields: LogFields = {}): OutageLog {
  let failures = 0;
  return {
    failed(details) {
      failures++;
      log[failures === 1 ? "warn" : "debug"]({ ...fields, ...details }, `${what} fails`);
    },
    works() {
      if (failures > 0) log.info({ ...fields, failures }, `${what} works again`);
      failures = 0;
    },
  };
}
