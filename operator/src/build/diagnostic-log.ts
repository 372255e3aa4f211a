import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";
import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { formatRef } from "../api/object.ts";
import { isTransient } from "../translate/diagnostics/transient.ts";
import type { Diagnostic } from "../translate/finding.ts";

/**
 * Whether a finding is logged as an error and not as a warning. A mistake in a declaration is a warning, unless
 * requests are served without the protection that was requested.
 */
export const isLoggedAsError = ({ reason, severity }: Pick<Diagnostic, "reason" | "severity">): boolean =>
  reason === "CleartextFallback" || (reason === "ForeignAnnotation" && severity === "error");

export type DiagnosticLog = {
  /** Logs the findings of a build, of which it must get all. */
  report(diagnostics: readonly Diagnostic[]): void;
  /** Stops logging. */
  stop(): void;
};

export type DiagnosticLogOptions = {
  readonly log: Logger;
  readonly clock?: Pick<Clock, "schedule">;
};

/**
 * The largest number of findings of one object and reason that are logged; of the others, only the number is logged.
 */
const maxLines = 100;
/** How long additional findings of a group are counted before their number is logged. */
const othersMs = 1_000;

/**
 * How long a transient finding must last before it is logged: objects that are applied together arrive in any order,
 * and the pods of a new Service take a while to start.
 */
const patienceMs = 10_000;

/**
 * Logs the findings of builds, each one once while it lasts, and its end. A finding that disappears when another object
 * arrives is logged after it has lasted for ten seconds, all others immediately. See docs/reference/events.md.
 */
export function createDiagnosticLog({ log, clock = monotonicClock }: DiagnosticLogOptions): DiagnosticLog {
  const known = createUseCounts();
  const places = createUseCounts();
  /** Cancels the wait of a finding that is not logged yet. Has at most one entry for each finding. */
  const waiting = new Map<string, () => void>();
  /** The places with a logged finding. */
  const logged = new Set<string>();
  /** The logged findings, and their number in each group (`lines`). */
  const written = new Set<string>();
  const lines = createUseCounts();
  /** How many findings of each group are only counted, by group. */
  const others = new Map<string, { count: number; readonly cancel: () => void }>();
  let last: readonly Diagnostic[] = [];

  const logStart = (diagnostic: Diagnostic): void => {
    const group = groupOf(diagnostic);
    if (lines.count(group) >= maxLines) return countOther(group, diagnostic);
    lines.add([group]);
    written.add(keyOf(diagnostic));
    logged.add(placeOf(diagnostic));
    write(log, diagnostic);
  };
  const countOther = (group: string, { object, reason, severity }: Diagnostic): void => {
    const counted = others.get(group);
    if (counted !== undefined) return void counted.count++;
    const onCounted = (): void => {
      const findings = others.get(group)?.count ?? 0;
      others.delete(group);
      const level = severity === "info" ? "debug" : "warn";
      log[level]({ reason, object: formatRef(object), findings }, "more findings of this kind");
    };
    others.set(group, { count: 1, cancel: clock.schedule(othersMs, onCounted) });
  };
  const begin = (diagnostic: Diagnostic): void => {
    if (!isTransient(diagnostic.reason)) return logStart(diagnostic);
    const key = keyOf(diagnostic);
    const onLasting = (): void => {
      waiting.delete(key);
      logStart(diagnostic);
    };
    waiting.set(key, clock.schedule(patienceMs, onLasting));
  };
  const end = (diagnostic: Diagnostic): void => {
    const key = keyOf(diagnostic);
    waiting.get(key)?.();
    waiting.delete(key);
    if (written.delete(key)) lines.remove([groupOf(diagnostic)]);
    const place = placeOf(diagnostic);
    // If another finding has the same place, the problem is not resolved.
    if (places.count(place) > 0 || !logged.delete(place)) return;
    if (diagnostic.severity === "info") log.debug(fieldsOf(diagnostic), "finding resolved");
    else log.info(fieldsOf(diagnostic), "finding resolved");
  };

  return {
    report(diagnostics) {
      const { removed, added } = listChanges(last, diagnostics);
      last = diagnostics;
      for (const diagnostic of added) {
        const key = keyOf(diagnostic);
        if (known.count(key) === 0) begin(diagnostic);
        known.add([key]);
      }
      places.add(added.map(placeOf));
      known.remove(removed.map(keyOf));
      places.remove(removed.map(placeOf));
      for (const diagnostic of removed) if (known.count(keyOf(diagnostic)) === 0) end(diagnostic);
    },
    stop() {
      for (const cancel of waiting.values()) cancel();
      for (const { cancel } of others.values()) cancel();
      waiting.clear();
      others.clear();
    },
  };
}

const keyOf = ({ object, severity, reason, field, message }: Diagnostic): string =>
  JSON.stringify([formatRef(object), severity, reason, field, message]);

/** The object, reason and field of a finding, without its severity and message. */
const placeOf = ({ object, reason, field }: Diagnostic): string =>
  JSON.stringify([formatRef(object), reason, field]);

const groupOf = ({ object, reason }: Diagnostic): string => `${reason} ${formatRef(object)}`;

const fieldsOf = ({ object, reason, field }: Diagnostic): LogFields => ({
  reason,
  object: formatRef(object),
  ...(field !== undefined && { field }),
});

function write(log: Logger, diagnostic: Diagnostic): void {
  const { severity, message } = diagnostic;
  const fields = { ...fieldsOf(diagnostic), detail: message };
  if (severity === "info") log.debug(fields, "finding");
  else if (isLoggedAsError(diagnostic)) log.error(fields, "finding");
  else log.warn(fields, "finding");
}
