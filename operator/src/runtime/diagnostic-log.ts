import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { formatRef } from "../api/object.ts";
import type { Diagnostic } from "../translate/translation.ts";

/**
 * Whether a finding is more than a warning to the log. What somebody has declared wrong is not, unless requests travel
 * without the protection that was asked for.
 */
export const isLoggedAsError = (reason: Diagnostic["reason"]): boolean => reason === "CleartextFallback";

/** Tells the log what builds find: each finding once, and again only after it was gone. */
export function createDiagnosticLog(log: Logger): (diagnostics: readonly Diagnostic[]) => void {
  const known = createUseCounts();
  let last: readonly Diagnostic[] = [];
  return (diagnostics) => {
    const { gone, come } = listChanges(last, diagnostics);
    last = diagnostics;
    for (const diagnostic of come) {
      const key = keyOf(diagnostic);
      if (known.count(key) === 0) write(log, diagnostic);
      known.add([key]);
    }
    known.remove(gone.map(keyOf));
  };
}

const keyOf = ({ object, severity, reason, field, message }: Diagnostic): string =>
  JSON.stringify([formatRef(object), severity, reason, field, message]);

function write(log: Logger, { object, severity, reason, field, message }: Diagnostic): void {
  const fields = {
    reason,
    object: formatRef(object),
    ...(field !== undefined && { field }),
    detail: message,
  };
  if (severity === "info") log.debug(fields, "finding");
  else if (isLoggedAsError(reason)) log.error(fields, "finding");
  else log.warn(fields, "finding");
}
