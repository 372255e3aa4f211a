import { certificateExpired, certificateNotYetValid } from "../diagnostics/certificates.ts";
import type { Diagnostic } from "../finding.ts";
import type { TlsHostTable } from "../ingress/tls-host-table.ts";

/** The findings, and the period (from, until) for which they are true. */
type Verdict = {
  readonly tables: readonly TlsHostTable[];
  readonly fromMs: number;
  readonly untilMs: number;
  readonly warnings: readonly Diagnostic[];
};

/**
 * A warning per Secret whose certificate is served although it is outdated, or not valid yet, at a time. Thousands of
 * certificates are looked at only when one of them is another one, or when the time of one has come.
 */
export function createValidityCheck(): (
  tables: readonly TlsHostTable[],
  nowMs: number,
) => readonly Diagnostic[] {
  let last: Verdict | undefined;
  return (tables, nowMs) => {
    if (last?.tables !== tables || nowMs < last.fromMs || nowMs >= last.untilMs) last = judge(tables, nowMs);
    return last.warnings;
  };
}

function judge(tables: readonly TlsHostTable[], nowMs: number): Verdict {
  const warnings = new Map<string, Diagnostic>();
  let untilMs = Number.POSITIVE_INFINITY;
  for (const { used } of tables) {
    for (const { certificate, secret: object } of used) {
      const { notBeforeMs, notAfterMs } = certificate;
      const key = `${object.namespace ?? ""}/${object.name}`;
      if (notAfterMs < nowMs) warnings.set(key, certificateExpired({ object }, formatTime(notAfterMs)));
      else if (notBeforeMs > nowMs)
        warnings.set(key, certificateNotYetValid({ object }, formatTime(notBeforeMs)));
      // The last millisecond of a certificate is a valid one.
      for (const changeMs of [notBeforeMs, notAfterMs + 1]) {
        if (changeMs > nowMs) untilMs = Math.min(untilMs, changeMs);
      }
    }
  }
  return { tables, fromMs: nowMs, untilMs, warnings: [...warnings.values()] };
}

/** RFC 3339 in UTC, whole seconds. */
export const formatTime = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, "Z");
