/**
 * Converts YAML nodes into JSON values as the parser of Kubernetes does: aliases and merge keys are resolved, keys are
 * text, and values that JSON cannot represent are rejected. The size of expanded aliases is counted without expanding
 * them, so that a small text cannot become a huge value (the "billion laughs" attack).
 */
import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from "yaml";
import { setOwn } from "../../api/validation/problem.ts";
import type { Overwritten } from "../read-stand-in.ts";
import { maxDocumentValues, maxValueDepth } from "./limits.ts";

/** Something that a manifest must not contain, at an offset in the text. */
export type Fault = { readonly offset: number; readonly message: string };

/** The value of a document, with the node from which each of its maps and lists was made. */
export type Converted = {
  readonly value: unknown;
  readonly nodes: ReadonlyMap<object, ParsedNode>;
  readonly overwritten: Overwritten;
  /** The faults in text order. If the list is not empty, the value must not be used. */
  readonly faults: readonly Fault[];
};

type State = {
  readonly nodes: Map<object, ParsedNode>;
  readonly overwritten: Map<object, (readonly [key: string, value: unknown])[]>;
  readonly faults: Fault[];
  /** The latest value of each anchor so far; undefined while the anchor's own node is being converted. */
  readonly anchors: Map<string, Expanded | undefined>;
  depth: number;
  valuesLeft: number;
};

/** A value and the number of values in it when all aliases are expanded. */
type Expanded = { readonly value: unknown; readonly size: number };

const nothing: Expanded = { value: null, size: 1 };

const maxFaults = 10;

export function toJsonValue(root: ParsedNode): Converted {
  const state: State = {
    nodes: new Map(),
    overwritten: new Map(),
    faults: [],
    anchors: new Map(),
    depth: 0,
    valuesLeft: maxDocumentValues,
  };
  const { value } = convert(root, state);
  return { value, nodes: state.nodes, overwritten: state.overwritten, faults: state.faults };
}

function convert(node: ParsedNode | null, state: State): Expanded {
  if (node === null || state.valuesLeft < 0 || state.faults.length >= maxFaults) return nothing;
  if (isAlias(node)) return resolveAlias(node.source, node.range[0], state);
  if (node.anchor !== undefined) state.anchors.set(node.anchor, undefined);
  state.depth++;
  const converted = state.depth > maxValueDepth ? tooDeep(node, state) : convertContent(node, state);
  state.depth--;
  if (node.anchor !== undefined) state.anchors.set(node.anchor, converted);
  return converted;
}

function convertContent(node: ParsedNode, state: State): Expanded {
  if (isScalar(node)) return { value: scalarValue(node, state), size: spend(1, node, state) };
  if (isSeq(node)) {
    const list: unknown[] = [];
    state.nodes.set(list, node);
    let size = spend(1, node, state);
    for (const item of node.items) {
      const entry = convert(item, state);
      list.push(entry.value);
      size += entry.size;
    }
    return { value: list, size };
  }
  return isMap(node) ? convertMap(node, state) : nothing;
}

function convertMap(node: YAMLMap.Parsed, state: State): Expanded {
  const map: Record<string, unknown> = {};
  state.nodes.set(map, node);
  const written = new Set<string>();
  const merges: { readonly from: ParsedNode | null; readonly offset: number }[] = [];
  let size = spend(1, node, state);
  for (const { key, value } of node.items) {
    if (isMergeKey(key)) {
      merges.push({ from: value, offset: key.range[0] });
      continue;
    }
    const name = keyText(key, state);
    if (name === undefined) continue;
    if (written.has(name)) {
      refuse(key.range[0], `duplicate key ${JSON.stringify(name)} in this map`, state);
      const earlier = state.overwritten.get(map) ?? [];
      state.overwritten.set(map, [...earlier, [name, map[name]]]);
    }
    written.add(name);
    const field = convert(value, state);
    setOwn(map, name, field.value);
    size += field.size;
  }
  for (const { from, offset } of merges) size += merge(map, from, offset, state);
  return { value: map, size };
}

/**
 * Merges `<<: *other` or `<<: [*first, *second]` into a map. Keys that are written there, or were merged earlier, take
 * precedence (yaml.org/type/merge).
 */
function merge(map: Record<string, unknown>, from: ParsedNode | null, offset: number, state: State): number {
  const { value, size } = convert(from, state);
  for (const source of Array.isArray(value) ? (value as readonly unknown[]) : [value]) {
    if (typeof source !== "object" || source === null || Array.isArray(source)) {
      refuse(offset, "the value of a merge key '<<' must be a map or a list of maps", state);
      return size;
    }
    for (const [name, field] of Object.entries(source)) {
      if (Object.hasOwn(map, name)) continue;
      setOwn(map, name, field);
    }
  }
  return size;
}

function resolveAlias(anchor: string, offset: number, state: State): Expanded {
  const target = state.anchors.get(anchor);
  if (target !== undefined) {
    spendAt(target.size, offset, state);
    return target;
  }
  const why = state.anchors.has(anchor)
    ? "refers to the value that contains it"
    : "refers to no anchor before it";
  refuse(offset, `the alias *${anchor} ${why}`, state);
  return nothing;
}

const isMergeKey = (key: ParsedNode): boolean =>
  isScalar(key) && key.source === "<<" && (key.type === "PLAIN" || key.type === undefined);

/** The text of a key. A plain key is used as written, so that `on`, `80` or `yes` are names, too. */
function keyText(key: ParsedNode, state: State): string | undefined {
  if (isScalar(key)) {
    if (typeof key.value === "string") return key.value;
    if (key.source !== "" && key.source !== "~" && key.source !== "null") return key.source;
  }
  refuse(key.range[0], "a key must be text", state);
  return undefined;
}

function scalarValue(node: Scalar.Parsed, state: State): unknown {
  const { value } = node;
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      // A number that is too large is text for the parser of Kubernetes: `12e3456789` can be an abbreviated commit
      // hash.
      if (/\d/.test(node.source)) return node.source;
      refuse(node.range[0], `${node.source} is not a number that JSON can hold`, state);
      return null;
    case "bigint":
      return Number(value);
    default:
      return null;
  }
}

function tooDeep(node: ParsedNode, state: State): Expanded {
  refuse(node.range[0], `values must not be nested deeper than ${maxValueDepth} levels`, state);
  return nothing;
}

const spend = (values: number, node: ParsedNode, state: State): number =>
  spendAt(values, node.range[0], state);

function spendAt(values: number, offset: number, state: State): number {
  const before = state.valuesLeft;
  state.valuesLeft -= values;
  if (before >= 0 && state.valuesLeft < 0) {
    const message = `the document has more than ${maxDocumentValues} values, counting what its aliases repeat`;
    refuse(offset, message, state);
  }
  return values;
}

function refuse(offset: number, message: string, state: State): void {
  if (state.faults.length < maxFaults) state.faults.push({ offset, message });
}
