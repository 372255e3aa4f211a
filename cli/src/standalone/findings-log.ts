import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { formatRef, type ObjectRef } from "@svc-gateway/operator/api/object.ts";
import { isLoggedAsError } from "@svc-gateway/operator/build/diagnostic-log.ts";
import type { ManifestProblem, Place } from "@svc-gateway/operator/sources/files/place.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";

/** Returns the place of an object's manifest; undefined for an object without one. */
type FindPlace = (object: ObjectRef) => Place | undefined;

/** Logs the findings about manifests: each one once, and again only after it was resolved. */
export type FindingsLog = {
  report(problems: readonly ManifestProblem[], diagnostics: readonly Diagnostic[], placeOf: FindPlace): void;
};

type Finding = {
  readonly severity: Diagnostic["severity"];
  readonly fields: Readonly<Record<string, string | number>>;
  /** The object of a finding of the translation; moving the object to another place does not make it a new finding. */
  readonly object?: ObjectRef;
};

export function createFindingsLog(log: Logger): FindingsLog {
  let known: ReadonlySet<string> = new Set();
  return {
    report(problems, diagnostics, placeOf) {
      const findings = new Map<string, Finding>();
      for (const problem of problems) remember(findings, ofProblem(problem));
      for (const diagnostic of diagnostics) remember(findings, ofDiagnostic(diagnostic));
      for (const [key, { severity, fields, object }] of findings) {
        if (known.has(key)) continue;
        write(log, severity, { ...fields, ...(object === undefined ? {} : placeOf(object)) });
      }
      const fixed = [...known].filter((key) => !findings.has(key)).length;
      if (fixed > 0)
        log.info({ event: "findings_gone", gone: fixed, left: findings.size }, "findings resolved");
      known = new Set(findings.keys());
    },
  };
}

const remember = (findings: Map<string, Finding>, finding: Finding): void => {
  findings.set(JSON.stringify(finding), finding);
};

const ofProblem = ({
  severity,
  reason,
  file,
  line,
  column,
  object,
  field,
  message,
}: ManifestProblem): Finding => ({
  severity,
  fields: {
    reason,
    file,
    ...(line === undefined ? {} : { line, column: column ?? 1 }),
    ...(object === undefined ? {} : { object: formatRef(object) }),
    ...(field === undefined ? {} : { field }),
    detail: message,
  },
});

/** A finding with the severity with which a controller logs it. */
const ofDiagnostic = ({ severity, reason, object, field, message }: Diagnostic): Finding => ({
  severity: severity === "error" && !isLoggedAsError({ reason, severity }) ? "warning" : severity,
  fields: { reason, object: formatRef(object), ...(field === undefined ? {} : { field }), detail: message },
  object,
});

function write(log: Logger, severity: Finding["severity"], fields: Finding["fields"]): void {
  const event = { event: "manifest_finding", ...fields };
  switch (severity) {
    case "error":
      return log.error(event, "manifest finding");
    case "warning":
      return log.warn(event, "manifest finding");
    case "info":
      return log.info(event, "manifest finding");
  }
}
