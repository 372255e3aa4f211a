import { listChanges } from "@svc-gateway/common/collections/list-changes.ts";
import { createUseCounts } from "@svc-gateway/common/collections/use-counts.ts";
import type { LogFields } from "@svc-gateway/common/telemetry/log-level.ts";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { monotonicClock, type Clock } from "@svc-gateway/common/time/clock.ts";
import { formatRef } from "../api/object.ts";
import { mayPass } from "../translate/diagnostics.ts";
import type { Diagnostic } from "../translate/finding.ts";

/**
 * Whether a finding is more than a warning to the log. What somebody has declared wrong is not, unless requests travel
 * without the protection that was asked for.
 */
export const isLoggedAsError = (reason: Diagnostic["reason"]): boolean => reason === "CleartextFallback";

export type DiagnosticLog = {
  /** Takes in what a build has found, all of it. */
  report(diagnostics: readonly Diagnostic[]): void;
  /** Nothing is told any more. */
  stop(): void;
};

export type DiagnosticLogOptions = {
  readonly log: Logger;
  readonly clock?: Pick<Clock, "schedule">;
};

/** So many findings of one object and reason are logged, and then how many others there are. */
const maxLines = 100;
/** The others are counted for so long before they are told. */
const othersMs = 1_000;

/** What is applied together arrives in any order, and the pods of a new Service take a while to start. */
const patienceMs = 10_000;

/**
 * Tells the log what builds find: each finding once while it lasts, and that it is gone. What another object can mend that
 * is just on its way is told once it has lasted for ten seconds, everything else at once. See docs/reference/events.md.
 */
export function createDiagnosticLog({ log, clock = monotonicClock }: DiagnosticLogOptions): DiagnosticLog {
  const known = createUseCounts();
  const places = createUseCounts();
  /** Ends the wait of a finding that is not told yet. Holds no more than there are findings. */
  const waiting = new Map<string, () => void>();
  /** Places of which something is told. */
  const logged = new Set<string>();
  /** Findings that are told, and how many of each group. */
  const written = new Set<string>();
  const lines = createUseCounts();
  /** By group, how many are not told one by one. */
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
    if (!mayPass(diagnostic.reason)) return logStart(diagnostic);
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
    // What is wrong there for another reason now is not gone.
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

/** What a finding is about, whatever it says of it. */
const placeOf = ({ object, reason, field }: Diagnostic): string =>
  JSON.stringify([formatRef(object), reason, field]);

const groupOf = ({ object, reason }: Diagnostic): string => `${reason} ${formatRef(object)}`;

const fieldsOf = ({ object, reason, field }: Diagnostic): LogFields => ({
  reason,
  object: formatRef(object),
  ...(field !== undefined && { field }),
});

function write(log: Logger, diagnostic: Diagnostic): void {
  const { severity, reason, message } = diagnostic;
  const fields = { ...fieldsOf(diagnostic), detail: message };
  if (severity === "info") log.debug(fields, "finding");
  else if (isLoggedAsError(reason)) log.error(fields, "finding");
  else log.warn(fields, "finding");
}
