import { certificateExpired, certificateNotYetValid } from "../diagnostics/certificates.ts";
import type { Diagnostic } from "../finding.ts";
import type { TlsHostTable } from "../ingress/tls-host-table.ts";

/** The findings, with the period (from, until) in which they apply. */
type Verdict = {
  readonly tables: readonly TlsHostTable[];
  readonly fromMs: number;
  readonly untilMs: number;
  readonly warnings: readonly Diagnostic[];
};

/**
 * Warns of each Secret whose certificate is served although it is expired, or not valid yet, at a time.
 * Certificates, of which there can be thousands, are inspected only when one of them changes, or when the
 * validity of one begins or ends.
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
      // A certificate is still valid in its last millisecond.
      for (const changeMs of [notBeforeMs, notAfterMs + 1]) {
        if (changeMs > nowMs) untilMs = Math.min(untilMs, changeMs);
      }
    }
  }
  return { tables, fromMs: nowMs, untilMs, warnings: [...warnings.values()] };
}

/** Formats a time by RFC 3339, in UTC and whole seconds. */
export const formatTime = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, "Z");
