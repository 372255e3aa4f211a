import type { AccessRecord } from "../../src/telemetry/access-record.ts";
import type { AccessLog } from "../../src/telemetry/access-log.ts";

/** An access log of the usual fields that keeps its records. */
export function recordingLog(records: AccessRecord[]): AccessLog {
  const log: AccessLog = {
    enabled: true,
    shows: "usual",
    write: (record) => void records.push(record),
    withFields: () => log,
  };
  return log;
}
