import { certificateExpired, certificateNotYetValid } from "../diagnostics.ts";
import type { TlsHostTable } from "../ingress/tls.ts";
import type { Diagnostic } from "../translation.ts";

/** A warning per Secret whose certificate is served although it is outdated, or not valid yet, at this time. */
export function checkValidity(tables: readonly TlsHostTable[], nowMs: number): readonly Diagnostic[] {
  const warnings = new Map<string, Diagnostic>();
  for (const { used } of tables) {
    for (const { certificate, secret: object } of used) {
      const { notBeforeMs, notAfterMs } = certificate;
      const key = `${object.namespace ?? ""}/${object.name}`;
      if (notAfterMs < nowMs) warnings.set(key, certificateExpired({ object }, formatTime(notAfterMs)));
      else if (notBeforeMs > nowMs)
        warnings.set(key, certificateNotYetValid({ object }, formatTime(notBeforeMs)));
    }
  }
  return [...warnings.values()];
}

/** RFC 3339 in UTC, whole seconds. */
const formatTime = (timeMs: number): string => new Date(timeMs).toISOString().replace(/\.\d+Z$/, "Z");
