/** What one manifest file contributes, given what it holds now and what it contributed before. Pure. */
import { definitionOf, type KnownObject } from "../../api/kinds.ts";
import type { ObjectRef } from "../../api/object.ts";
import { closingKinds, createStandIn, effectOfInvalid, type StandInSource } from "../../api/stand-in.ts";
import type { DocumentItem, ManifestDocument, ObjectKey } from "./document.ts";
import { formatPlace, type Finding, type ManifestProblem, type Place, type Position } from "./place.ts";

export type LoadedObject = {
  readonly key: ObjectKey;
  readonly ref: ObjectRef;
  readonly object: KnownObject;
  readonly place: Place;
  /**
   * `current`: as the file says now. `kept`: of an earlier state, because the file does not give a good one now. `stand-in`:
   * there is no good one, and this closes what the object was meant to protect, if anything (operator/src/api/stand-in.ts).
   */
  readonly state: "current" | "kept" | "stand-in";
};

/** A manifest of a kind that this gateway does not read. */
export type IgnoredManifest = Place & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
};

export type FileState = {
  readonly objects: readonly LoadedObject[];
  readonly problems: readonly ManifestProblem[];
  readonly ignored: readonly IgnoredManifest[];
};

/** A document of a file and the line (0-based) at which its text begins. */
export type PlacedDocument = { readonly document: ManifestDocument; readonly line: number };

/** A file that cannot be read at all changes nothing but what is reported. */
export const unreadableFile = (
  problems: readonly ManifestProblem[],
  previous: FileState | undefined,
): FileState => ({
  objects: (previous?.objects ?? []).map(keep),
  problems,
  ignored: previous?.ignored ?? [],
});

/**
 * The state of a file after it was read. A file with a document that cannot be parsed keeps its whole last state, since
 * the broken part could be any object; only without a last state are its other documents used. An invalid object keeps
 * its own last version.
 */
export function readFileState(
  file: string,
  documents: readonly PlacedDocument[],
  previous: FileState | undefined,
): FileState {
  const faults = documents.flatMap(({ document: { fault }, line }) =>
    fault === undefined ? [] : [problemAt(file, "InvalidYaml", shift(fault, line))],
  );
  if (faults.length > 0 && previous !== undefined) return unreadableFile(faults, previous);
  const items = documents.flatMap(({ document, line }) => document.items.map((item) => ({ item, line })));
  const read = items.map(({ item, line }) => readItem(file, item, line, previous));
  const objects = read.flatMap(({ objects: own }) => own);
  const isNameless = ({ item }: { item: DocumentItem }): boolean =>
    item.type === "invalid" && item.key === undefined;
  const missing = items.some(isNameless) ? missingFrom(objects, previous) : [];
  return {
    objects: [...objects.filter((object) => !isMissing(object, missing)), ...missing],
    problems: [...faults, ...read.flatMap(({ problems }) => problems)].sort(byPosition),
    ignored: items.flatMap(({ item, line }) => {
      if (item.type !== "ignored") return [];
      const { apiVersion, kind, name } = item;
      return [{ ...placeOf(file, item, line), apiVersion, kind, name }];
    }),
  };
}

function readItem(
  file: string,
  item: DocumentItem,
  line: number,
  previous: FileState | undefined,
): Pick<FileState, "objects" | "problems"> {
  const place = placeOf(file, item, line);
  switch (item.type) {
    case "object": {
      const { key, ref, object, warnings } = item;
      const problems = warnings.map((warning) =>
        problemAt(file, "IgnoredField", shift(withEffect(warning, "it has no effect"), line), { place, ref }),
      );
      return { objects: [{ key, ref, object, place, state: "current" }], problems };
    }
    case "invalid": {
      const last = previous?.objects.find(({ key, state }) => key === item.key && state !== "stand-in");
      const effect = effectOfInvalid(item.standIn, last !== undefined);
      const problems = item.problems.map((found) =>
        problemAt(file, "InvalidObject", shift(withEffect(found, effect), line), { place, ref: item.ref }),
      );
      if (last !== undefined) return { objects: [{ ...last, place, state: "kept" }], problems };
      if (item.standIn === undefined) return { objects: [], problems };
      return { objects: [standIn(item.standIn, place, item.problems)], problems };
    }
    case "ignored":
      return { objects: [], problems: [] };
  }
}

/** An invalid manifest without a name may be any object that is missing from the last state: all of those are kept. */
function missingFrom(
  objects: readonly LoadedObject[],
  previous: FileState | undefined,
): readonly LoadedObject[] {
  const present = new Set(objects.map(({ key }) => key));
  return (previous?.objects ?? []).filter(({ key }) => !present.has(key)).map(keep);
}

/** Whether a nameless object with a stand-in may be one that keeps its last valid version. */
const isMissing = ({ object, ref, state }: LoadedObject, missing: readonly LoadedObject[]): boolean =>
  state === "stand-in" &&
  isUnnamed(ref) &&
  missing.some((one) => one.state === "kept" && one.object.kind === object.kind);

/** What is closed under the name that the object has, or under its place, which no reference can name. */
function standIn(source: StandInSource, place: Place, found: readonly Finding[]): LoadedObject {
  const { kind, namespace, name = `${unnamed}${formatPlace(place)})` } = source;
  const key = `${definitionOf(kind).group}/${kind}/${namespace}/${name}` as ObjectKey;
  const ref = { kind, namespace, name };
  const messages = found.map(({ message }) => message);
  const problems = messages.length > 0 ? messages : ["the document that it is in is not valid YAML"];
  return { key, ref, object: createStandIn({ ...source, name, problems }), place, state: "stand-in" };
}

const unnamed = "(without a name, at ";

const isUnnamed = ({ name }: ObjectRef): boolean => name.startsWith(unnamed);

const keep = (object: LoadedObject): LoadedObject =>
  object.state === "stand-in" ? object : { ...object, state: "kept" };

const placeOf = (file: string, { line, column }: DocumentItem, firstLine: number): Place => ({
  file,
  line: line + firstLine,
  column,
});

const withEffect = (finding: Finding, effect: string): Finding => ({
  ...finding,
  message: `${finding.message}; ${effect}`,
});

const shift = (finding: Finding, lines: number): Finding => ({ ...finding, line: finding.line + lines });

const problemAt = (
  file: string,
  reason: ManifestProblem["reason"],
  { line, column, message, field, isMisspelt }: Finding,
  manifest?: { readonly place: Place; readonly ref: ObjectRef | undefined },
): ManifestProblem => ({
  severity: reason === "IgnoredField" && !losesSomething(isMisspelt, manifest?.ref) ? "warning" : "error",
  reason,
  file,
  line,
  column,
  message,
  ...(field === undefined ? {} : { field }),
  ...(manifest === undefined ? {} : { manifest: positionOf(manifest.place) }),
  ...(manifest?.ref === undefined ? {} : { object: manifest.ref }),
});

/** Whether ignoring a field loses something: it is a misspelt one, or one of an object that protects others. */
const losesSomething = (isMisspelt: boolean | undefined, ref: ObjectRef | undefined): boolean =>
  isMisspelt === true || protecting.has(ref?.kind ?? "");

const protecting: ReadonlySet<string> = new Set([...closingKinds, "RateLimit", "RequestSizeLimit"]);

const positionOf = ({ line, column }: Place): Position => ({ line, column });

const byPosition = (a: ManifestProblem, b: ManifestProblem): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
