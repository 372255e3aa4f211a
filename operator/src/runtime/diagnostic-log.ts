import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { formatRef } from "../api/object.ts";
import type { Diagnostic } from "../translate/translation.ts";

/**
 * Tells the log what builds find: each finding once, and again only after it was gone. What somebody has declared wrong
 * is a warning of the controller, not an error.
 */
export function createDiagnosticLog(log: Logger): (diagnostics: readonly Diagnostic[]) => void {
  const keys = new WeakMap<Diagnostic, string>();
  let known: ReadonlySet<string> = new Set();
  const keyOf = (diagnostic: Diagnostic): string => {
    const present = keys.get(diagnostic);
    if (present !== undefined) return present;
    const { object, severity, reason, field, message } = diagnostic;
    const key = JSON.stringify([formatRef(object), severity, reason, field, message]);
    keys.set(diagnostic, key);
    return key;
  };
  return (diagnostics) => {
    const found = new Set<string>();
    for (const diagnostic of diagnostics) {
      const key = keyOf(diagnostic);
      if (!known.has(key) && !found.has(key)) write(log, diagnostic);
      found.add(key);
    }
    known = found;
  };
}

function write(log: Logger, { object, severity, reason, field, message }: Diagnostic): void {
  const fields = {
    reason,
    object: formatRef(object),
    ...(field !== undefined && { field }),
    detail: message,
  };
  if (severity === "info") log.debug(fields, "finding");
  else log.warn(fields, "finding");
}
