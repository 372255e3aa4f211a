/** Determines the contribution of one manifest file from its present content and its previous contribution. Pure. */
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
   * - `current`: the object as the file has it now.
   * - `kept`: an earlier version, because the file has no valid one now.
   * - `stand-in`: no valid version is known, and the stand-in closes what the object was meant to protect, if anything
   *   (operator/src/api/stand-in.ts).
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

const noState: FileState = { objects: [], problems: [], ignored: [] };

/** A document of a file and the line (0-based) at which its text begins. */
export type PlacedDocument = { readonly document: ManifestDocument; readonly line: number };

/**
 * The state of a file that cannot be read. It keeps its objects; if it has any, the problems mention that its last
 * valid state is used.
 */
export function unreadableFile(
  problems: readonly ManifestProblem[],
  previous: FileState | undefined,
): FileState {
  const { objects, ignored } = keptState(previous ?? noState);
  return { objects, problems: objects.length === 0 ? problems : problems.map(keepsLastState), ignored };
}

/**
 * The previous contribution of a file, which it keeps while it may be cut. Another file that has an object now takes
 * precedence over the kept version.
 */
export const keptState = ({ objects, ...rest }: FileState): FileState => ({
  ...rest,
  objects: objects.map(keep),
});

/** Adds to a problem of an unreadable file or folder that the last valid state of its objects is used. */
export const keepsLastState = (problem: ManifestProblem): ManifestProblem =>
  withEffect(problem, "its last valid state is used");

/**
 * The state of a file after it was read. A file with a document that cannot be parsed keeps its whole last state,
 * because the broken part could be any object; its other documents are used only if it has no last state. An invalid
 * object keeps its own last version.
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
  const objects = items.flatMap(({ item, line }) => readItem(file, item, line, previous));
  const missing = items.some(({ item }) => isNameless(item)) ? missingFrom(objects, previous) : [];
  const namelessEffect = missing.some(({ state }) => state === "kept") ? keepsMissing : undefined;
  const problems = items.flatMap(({ item, line }) => problemsOf(file, item, line, previous, namelessEffect));
  return {
    objects: [...objects.filter((object) => !isMissing(object, missing)), ...missing],
    problems: [...faults, ...problems].sort(byPosition),
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
): readonly LoadedObject[] {
  const place = placeOf(file, item, line);
  switch (item.type) {
    case "object": {
      const { key, ref, object } = item;
      return [{ key, ref, object, place, state: "current" }];
    }
    case "invalid": {
      const last = lastValid(item.key, previous);
      if (last !== undefined) return [{ ...last, place, state: "kept" }];
      return item.standIn === undefined ? [] : [standIn(item.standIn, place, item.problems)];
    }
    case "ignored":
      return [];
  }
}

/** The problems of a manifest; `namelessEffect` is the effect to report for a manifest without a name. */
function problemsOf(
  file: string,
  item: DocumentItem,
  line: number,
  previous: FileState | undefined,
  namelessEffect: string | undefined,
): readonly ManifestProblem[] {
  if (item.type === "ignored") return [];
  const manifest = { place: placeOf(file, item, line), ref: item.ref };
  if (item.type === "object") {
    return item.warnings.map((warning) =>
      problemAt(file, "IgnoredField", shift(withEffect(warning, "it has no effect"), line), manifest),
    );
  }
  const known = effectOfInvalid(item.standIn, lastValid(item.key, previous) !== undefined);
  const effect = isNameless(item) ? (namelessEffect ?? known) : known;
  return item.problems.map((found) =>
    problemAt(file, "InvalidObject", shift(withEffect(found, effect), line), manifest),
  );
}

const isNameless = (item: DocumentItem): boolean => item.type === "invalid" && item.key === undefined;

const keepsMissing = "objects that are missing from the file since then keep their last valid versions";

const lastValid = (key: ObjectKey | undefined, previous: FileState | undefined): LoadedObject | undefined =>
  previous?.objects.find((object) => object.key === key && object.state !== "stand-in");

/**
 * The objects of the last state that are missing now. An invalid manifest without a name could be any of them, so all
 * of them are kept.
 */
function missingFrom(
  objects: readonly LoadedObject[],
  previous: FileState | undefined,
): readonly LoadedObject[] {
  const present = new Set(objects.map(({ key }) => key));
  return (previous?.objects ?? []).filter(({ key }) => !present.has(key)).map(keep);
}

/** Whether a nameless stand-in could represent an object that keeps its last valid version. */
const isMissing = ({ object, ref, state }: LoadedObject, missing: readonly LoadedObject[]): boolean =>
  state === "stand-in" &&
  isUnnamed(ref) &&
  missing.some((one) => one.state === "kept" && one.object.kind === object.kind);

/** Creates a stand-in under the name of the object, or else under its place, which no reference can name. */
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

const withEffect = <T extends { readonly message: string }>(finding: T, effect: string): T => ({
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

/** Whether ignoring a field loses something: the field is misspelt, or belongs to an object that protects others. */
const losesSomething = (isMisspelt: boolean | undefined, ref: ObjectRef | undefined): boolean =>
  isMisspelt === true || protecting.has(ref?.kind ?? "");

const protecting: ReadonlySet<string> = new Set([...closingKinds, "RateLimit", "RequestSizeLimit"]);

const positionOf = ({ line, column }: Place): Position => ({ line, column });

const byPosition = (a: ManifestProblem, b: ManifestProblem): number =>
  (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
