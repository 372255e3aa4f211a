/** Reads the objects in the text of one document: parsing, `List` kinds, validation, positions. */
import type { ParsedNode } from "yaml";
import type { KnownObject } from "../../api/kinds.ts";
import { definitionOf, kindOf, kindOfGroup } from "../../api/kinds.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { StandInSource } from "../../api/stand-in.ts";
import { describeUnknownKind } from "../../api/unknown-kind.ts";
import { validateObject, type SchemaProblem } from "../../api/validate.ts";
import { isRecord } from "../../api/validation/problem.ts";
import { toJsonValue, type Converted } from "./convert.ts";
import { locateField } from "./locate.ts";
import type { Finding, Position } from "./place.ts";
import { readPlainText } from "./plain-text.ts";
import { readStandIn } from "../read-stand-in.ts";
import { parseYaml, type Pause, type YamlNodes } from "./yaml-text.ts";

/** Identifies an object across all files: `group/kind/namespace/name`. */
export type ObjectKey = string & { readonly __brand: "ObjectKey" };

/** One manifest, at its place in the text of its document. */
export type DocumentItem = Position &
  (
    | {
        readonly type: "object";
        readonly key: ObjectKey;
        readonly ref: ObjectRef;
        readonly object: KnownObject;
        readonly warnings: readonly Finding[];
      }
    | {
        readonly type: "invalid";
        /** The key of the object; absent if the manifest does not identify it. */
        readonly key?: ObjectKey;
        readonly ref?: ObjectRef;
        readonly problems: readonly Finding[];
        /** The object and what it was meant to protect, for kinds with stand-ins. */
        readonly standIn?: StandInSource;
      }
    | { readonly type: "ignored"; readonly apiVersion: string; readonly kind: string; readonly name: string }
  );

/** The content of a document. With a fault, the text cannot be read, and `items` has only stand-ins for its objects. */
export type ManifestDocument = { readonly items: readonly DocumentItem[]; readonly fault?: Finding };

/** Reads the text of one document. Equal texts yield equal results, so callers may cache them by the text. */
export async function readDocument(text: string, pause?: Pause): Promise<ManifestDocument> {
  const plain = readPlainObject(text);
  if (plain !== undefined) {
    const waiting = pause?.();
    if (waiting !== undefined) await waiting;
    return { items: [plain] };
  }
  const items: DocumentItem[] = [];
  for (const parsed of await parseYaml(text, pause)) {
    if (!parsed.ok) {
      const { nodes, ...fault } = parsed.error;
      return { items: nodes === undefined ? [] : readStandIns(nodes, toJsonValue(nodes.root)), fault };
    }
    const { root, positionOf } = parsed.value;
    const converted = toJsonValue(root);
    const [fault] = converted.faults;
    if (fault !== undefined) {
      const { offset, message } = fault;
      return { items: readStandIns(parsed.value, converted), fault: { ...positionOf(offset), message } };
    }
    for (const manifest of manifestsOf(root, converted)) {
      items.push(readManifest(manifest, converted, parsed.value));
      const waiting = pause?.();
      if (waiting !== undefined) await waiting;
    }
  }
  return { items };
}

/**
 * The object of a plain text; undefined if positions in the text are needed, for findings or for the items of a list.
 */
function readPlainObject(text: string): DocumentItem | undefined {
  const plain = readPlainText(text);
  if (plain === undefined) return undefined;
  const { value, position } = plain;
  if (!isRecord(value) || isList(value)) return undefined;
  const result = validateObject(value);
  if (!result.ok) {
    const { error } = result;
    const isIgnored =
      error.reason === "unknown-kind" && describeUnknownKind(error.apiVersion, error.kind) === undefined;
    return isIgnored ? ignored(value, error, position) : undefined;
  }
  const identity = identify(value);
  const { object, warnings } = result.value;
  if (identity === undefined || warnings.length > 0) return undefined;
  return { ...position, ...identity, type: "object", object, warnings: [] };
}

const ignored = (
  value: unknown,
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  position: Position,
): DocumentItem => ({ ...position, type: "ignored", apiVersion, kind, name: readName(value) ?? "" });

/** The objects, of kinds with stand-ins, of a text that cannot be read. */
const readStandIns = (nodes: YamlNodes, converted: Converted): readonly DocumentItem[] =>
  [...manifestsOf(nodes.root, converted)].flatMap(({ value, offset }): DocumentItem | [] => {
    const invalid = describeInvalid(value, converted);
    if (invalid.standIn === undefined) return [];
    return { ...nodes.positionOf(offset), ...invalid, type: "invalid", problems: [] };
  });

/** The object that an invalid manifest describes, and what it was meant to protect. */
function describeInvalid(
  value: unknown,
  { overwritten }: Converted,
): { readonly key?: ObjectKey; readonly ref?: ObjectRef; readonly standIn?: StandInSource } {
  const standIn = readStandIn(value, overwritten);
  return { ...identify(value), ...(standIn !== undefined && { standIn }) };
}

/**
 * A manifest at an offset. `value` is validated and `written` is the content of the text; they differ for an item of a
 * list that omits its kind.
 */
export type Manifest = { readonly value: unknown; readonly written: unknown; readonly offset: number };

/** The manifests of a document, in text order: one, or the items of a list. */
export const manifestsOf = (root: ParsedNode, converted: Converted): Iterable<Manifest> =>
  converted.value === null ? [] : flattenLists(asWritten(converted.value, root.range[0]), converted);

const asWritten = (value: unknown, offset: number): Manifest => ({ value, written: value, offset });

/** Replaces `v1 List` and `<Kind>List` by their items; items of the latter may omit their own kind. */
function* flattenLists(manifest: Manifest, converted: Converted): Generator<Manifest> {
  const { value, offset } = manifest;
  if (!isRecord(value) || !isList(value)) {
    yield manifest;
    return;
  }
  const { apiVersion, kind, items } = value;
  const defaults = kind === "List" ? {} : { apiVersion, kind: String(kind).slice(0, -"List".length) };
  for (const [index, item] of (items as readonly unknown[]).entries()) {
    const itemOffset = locateField(converted, value, `items[${index}]`, offset);
    if (!isRecord(item) || kind === "List") yield* flattenLists(asWritten(item, itemOffset), converted);
    else yield { value: { ...defaults, ...item }, written: item, offset: itemOffset };
  }
}

const isList = ({ apiVersion, kind, items }: { readonly [field: string]: unknown }): boolean =>
  typeof apiVersion === "string" &&
  typeof kind === "string" &&
  kind.endsWith("List") &&
  kindOf(apiVersion, kind) === undefined &&
  Array.isArray(items);

function readManifest(
  { value, written, offset }: Manifest,
  converted: Converted,
  nodes: YamlNodes,
): DocumentItem {
  const place = nodes.positionOf(offset);
  const locate = ({ path, message, isMisspelt }: SchemaProblem): Finding => ({
    ...nodes.positionOf(locateField(converted, written, path, offset)),
    message: withoutSecret(value, path === "" ? message : `${path}: ${message}`),
    ...(path !== "" && { field: path }),
    ...(isMisspelt && { isMisspelt }),
  });
  const result = validateObject(value);
  const identity = identify(value);
  if (result.ok) {
    if (identity === undefined) throw new Error("a valid object has no name");
    const { object, warnings } = result.value;
    return { ...place, ...identity, type: "object", object, warnings: warnings.map(locate) };
  }
  const invalid = describeInvalid(value, converted);
  if (result.error.reason === "unknown-kind") {
    const { apiVersion, kind } = result.error;
    const unknown = describeUnknownKind(apiVersion, kind);
    if (unknown === undefined) return ignored(value, result.error, place);
    const name = readName(value);
    const ref = name === undefined ? {} : { ref: { kind, name } };
    return { ...place, ...ref, ...invalid, type: "invalid", problems: [locate(unknown)] };
  }
  return { ...place, ...invalid, type: "invalid", problems: result.error.problems.map(locate) };
}

/**
 * Removes the value found from a message about a Secret: its content must not be logged, even if it is in the wrong
 * field.
 */
const withoutSecret = (value: unknown, message: string): string =>
  isRecord(value) && value["kind"] === "Secret" ? message.replace(/, found .*/s, "") : message;

/**
 * The object that a manifest identifies; undefined if it lacks a name or is of an unknown kind. The manifest need not
 * be valid.
 */
function identify(value: unknown): { readonly key: ObjectKey; readonly ref: ObjectRef } | undefined {
  const name = readName(value);
  if (!isRecord(value) || name === undefined) return undefined;
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !isRecord(metadata)) return undefined;
  const slash = apiVersion.indexOf("/");
  const group = slash === -1 ? "" : apiVersion.slice(0, slash);
  const known = kindOfGroup(group, kind);
  if (known === undefined) return undefined;
  if (!definitionOf(known).namespaced) {
    return { key: `${group}/${kind}//${name}` as ObjectKey, ref: { kind, name } };
  }
  const { namespace: given } = metadata;
  const namespace = typeof given === "string" && given !== "" ? given : "default";
  return { key: `${group}/${kind}/${namespace}/${name}` as ObjectKey, ref: { kind, namespace, name } };
}

function readName(value: unknown): string | undefined {
  if (!isRecord(value) || !isRecord(value["metadata"])) return undefined;
  const { name } = value["metadata"];
  return typeof name === "string" && name !== "" ? name : undefined;
}
