/** The report of `check` as data: the JSON and YAML forms are this value, and the text is generated from it. */
import type { PathMatch } from "@svc-gateway/common/ir/match.ts";
import { formatRef, type ObjectRef } from "@svc-gateway/operator/api/object.ts";
import type { IgnoredManifest } from "@svc-gateway/operator/sources/files/file-state.ts";
import type { FolderState } from "@svc-gateway/operator/sources/files/folder-state.ts";
import { locateInFile, type ReadManifest } from "@svc-gateway/operator/sources/files/locate-in-file.ts";
import { formatPlace, type ManifestProblem, type Place } from "@svc-gateway/operator/sources/files/place.ts";
import type { Diagnostic } from "@svc-gateway/operator/translate/finding.ts";
import type { TranslatedFolder } from "../translate-folder.ts";
import { createHints } from "./hints.ts";
import { unservedReasons } from "./unserved.ts";

/**
 * The verdict about a manifest. `ok`: used as written. `warning`: used as written, with a finding. `error`: not served
 * as written. `unserved`: not for this gateway, because it belongs to another controller or a flag excludes it.
 */
export type Verdict = "ok" | "warning" | "error" | "unserved";

export type CheckFinding = {
  readonly severity: "error" | "warning" | "info";
  readonly reason: string;
  /** The path of the field, if the finding is about one. */
  readonly field?: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
};

export type CheckedManifest = Place & {
  /** The object; absent if the manifest does not name one. */
  readonly object?: ObjectRef;
  readonly verdict: Verdict;
  /** The findings, in the order of the text. */
  readonly findings: readonly CheckFinding[];
};

export type CheckReport = {
  /** The manifests, in the order of files and of the text. */
  readonly manifests: readonly CheckedManifest[];
  /** Paths that two Ingresses claim. */
  readonly conflicts: readonly {
    readonly host: string;
    readonly path: PathMatch;
    readonly served: ObjectRef;
    readonly notServed: ObjectRef;
  }[];
  /** The assumptions by which the translation differs from the cluster; absent for manifests. */
  readonly notes?: readonly string[];
  /** Manifests of kinds that the gateway does not read. */
  readonly ignored: readonly IgnoredManifest[];
  /** Findings about objects without a manifest in the folder, which only a flag names. */
  readonly elsewhere: readonly ElsewhereFinding[];
  readonly summary: Readonly<Record<Verdict | "manifests" | "ignored" | "elsewhere", number>>;
};

export type ElsewhereFinding = Pick<CheckFinding, "severity" | "reason" | "message"> & {
  readonly object: ObjectRef;
};

/** Whether no finding has the severity that makes the check fail, or a higher one. */
export function passes({ summary, elsewhere }: CheckReport, failOn: "error" | "warning"): boolean {
  const has = (severity: "error" | "warning"): boolean =>
    summary[severity] > 0 || elsewhere.some((finding) => finding.severity === severity);
  return !has("error") && (failOn === "error" || !has("warning"));
}

type Entry = { readonly place: Place; readonly object?: ObjectRef; readonly findings: CheckFinding[] };

/** Combines the findings of reading the folder and of translating it, by manifest. */
export async function createReport({
  state,
  translation,
  read,
  isLive = false,
}: TranslatedFolder): Promise<CheckReport> {
  const byPlace = new Map<string, Entry>();
  const byObject = new Map<string, Entry>();
  for (const { ref, place } of state.objects.values()) {
    const entry = { place, object: ref, findings: [] };
    byPlace.set(formatPlace(place), entry);
    byObject.set(formatRef(ref), entry);
  }
  for (const problem of state.problems) addProblem(problem, byPlace);
  const withHint = createHints(state.world);
  const found = translation.diagnostics.map((diagnostic) => withHint(asChecked(diagnostic, state)));
  const diagnostics = Map.groupBy(found, ({ object }) => formatRef(object));
  const elsewhere: ElsewhereFinding[] = [];
  for (const [name, ofObject] of diagnostics) {
    const entry = byObject.get(name);
    if (entry !== undefined) entry.findings.push(...(await locate(ofObject, entry.place, read)));
    else {
      elsewhere.push(
        ...ofObject.map(({ object, severity, reason, message }) => ({ object, severity, reason, message })),
      );
    }
  }
  const entries = [...byPlace.values()].filter((entry) => !isLive || isWritten(entry));
  const manifests = entries.map(withVerdict).sort(inFileOrder);
  const count = (verdict: Verdict): number => manifests.filter((one) => one.verdict === verdict).length;
  return {
    manifests,
    conflicts: translation.conflicts.map(({ host, path, winner, loser }) => ({
      host: host.host,
      path,
      served: winner,
      notServed: loser,
    })),
    ignored: state.ignored,
    elsewhere,
    summary: {
      manifests: manifests.length,
      ok: count("ok"),
      warning: count("warning"),
      error: count("error"),
      unserved: count("unserved"),
      ignored: state.ignored.length,
      elsewhere: elsewhere.length,
    },
  };
}

/** Kinds of which clusters have many unrelated objects; with `--live` they are listed only if there is a finding. */
const suppliedKinds: ReadonlySet<string> = new Set([
  "ClusterTrustBundle",
  "ConfigMap",
  "EndpointSlice",
  "Namespace",
  "Secret",
  "Service",
]);

const isWritten = ({ object, findings }: Entry): boolean =>
  findings.length > 0 || !suppliedKinds.has(object?.kind ?? "");

/** Adds a problem to its manifest. Problems of whole files end the command before a report is created. */
function addProblem(
  { manifest, object, file, severity, reason, line = 1, column = 1, message, field }: ManifestProblem,
  byPlace: Map<string, Entry>,
): void {
  const place = { file, ...(manifest ?? { line, column }) };
  const key = formatPlace(place);
  const entry = byPlace.get(key) ?? { place, findings: [], ...(object === undefined ? {} : { object }) };
  byPlace.set(key, entry);
  entry.findings.push({
    severity,
    reason,
    ...(field === undefined ? {} : { field }),
    line,
    column,
    message,
  });
}

/**
 * Adjusts the severity of a finding for manifests. An Ingress without a class can be for another controller if the
 * manifests have a default class.
 */
function asChecked(diagnostic: Diagnostic, { world }: FolderState): Diagnostic {
  const { amongManifests: severity } = diagnostic;
  if (severity === undefined) return diagnostic;
  const isElsewhere =
    diagnostic.reason === "NoIngressClass" &&
    world.IngressClass.some(({ metadata }) => metadata.annotations?.[defaultClassAnnotation] === "true");
  return isElsewhere ? diagnostic : { ...diagnostic, severity };
}

const defaultClassAnnotation = "ingressclass.kubernetes.io/is-default-class";

async function locate(
  diagnostics: readonly Diagnostic[],
  object: Place,
  read: ReadManifest | undefined,
): Promise<readonly CheckFinding[]> {
  const fields = diagnostics.flatMap(({ field }) => field ?? []);
  const places = await locateInFile(object, fields, read);
  return diagnostics.map(({ severity, reason, field, message }) => {
    const { line, column } = (field === undefined ? undefined : places.get(field)) ?? object;
    return { severity, reason, ...(field === undefined ? {} : { field }), line, column, message };
  });
}

function withVerdict({ place, object, findings }: Entry): CheckedManifest {
  const has = (severity: CheckFinding["severity"]): boolean =>
    findings.some((finding) => finding.severity === severity);
  const isUnserved = findings.some(({ reason }) => unservedReasons.has(reason));
  return {
    ...place,
    ...(object === undefined ? {} : { object }),
    verdict: has("error") ? "error" : isUnserved ? "unserved" : has("warning") ? "warning" : "ok",
    findings: findings.toSorted((a, b) => a.line - b.line || a.column - b.column),
  };
}

const inFileOrder = (a: Place, b: Place): number =>
  a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1;
