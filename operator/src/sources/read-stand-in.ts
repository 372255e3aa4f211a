/**
 * Reads invalid manifests of kinds with stand-ins: the object that a manifest describes, and what the object was meant
 * to protect. The reading is lenient, because everything that is not recognised here stays unprotected. It accepts
 * names misspelt by a letter or two, single entries instead of lists, text instead of maps, lists at the wrong level,
 * and values that a repeated key has overwritten.
 */
import { mostSimilar } from "@svc-gateway/common/values/similar.ts";
import { definitionOf, kindOfGroup } from "../api/kinds.ts";
import {
  closableKinds,
  attachingKinds,
  standInKinds,
  type AttachingKind,
  type ClosableKind,
  type ClosedTarget,
  type StandInKind,
  type StandInSource,
} from "../api/stand-in.ts";
import { isOfOwnDomain } from "../api/unknown-kind.ts";
import { isRecord, setOwn } from "../api/validation/problem.ts";

/** The keys that a text repeats in one map, with their overwritten values, by map. */
export type Overwritten = ReadonlyMap<object, readonly (readonly [key: string, value: unknown])[]>;

const nothingOverwritten: Overwritten = new Map();

/** The largest number of targets of one object that are closed; the schemas allow 16. */
const maxTargets = 1_000;

/** The kind assumed for a target reference that specifies no kind or an unknown one. */
const defaultTargets: { readonly [K in AttachingKind]: ClosableKind } = {
  SvcExternalAuth: "Gateway",
  ClientTrafficPolicy: "Gateway",
  BackendTLSPolicy: "Service",
  SvcBackendPolicy: "Service",
  JwtAuth: "Gateway",
  BasicAuth: "Gateway",
  IpAccessControl: "Gateway",
  RouteOptions: "Gateway",
};

/**
 * Returns the object that an invalid manifest describes and what it was meant to protect; undefined for kinds without
 * stand-ins.
 */
export function readStandIn(
  value: unknown,
  overwritten: Overwritten = nothingOverwritten,
): StandInSource | undefined {
  if (!isRecord(value)) return undefined;
  const all: ReadAll = (map, name) => readAll(map, name, overwritten);
  const [kind] = all(value, "kind").flatMap((written) => standInKindOf(value["apiVersion"], written));
  if (kind === undefined) return undefined;
  const metadata = all(value, "metadata").filter(isRecord);
  const text = (name: string): string | undefined =>
    metadata.flatMap((map) => all(map, name).flatMap((one) => readText(one) ?? []))[0];
  const uid = text("uid");
  const generation = metadata.map((map) => map["generation"]).find((one) => typeof one === "number");
  return {
    kind,
    namespace: text("namespace") ?? "default",
    name: text("name"),
    creationTimestamp: text("creationTimestamp"),
    ...(uid !== undefined && { uid }),
    ...(generation !== undefined && { generation }),
    ...(kind === "SvcIngressClassParameters"
      ? { targets: [], defaultAnnotations: readDefaults(value, all) }
      : { targets: isAttaching(kind) ? readTargets(value, kind, all) : [] }),
  };
}

const isAttaching = (kind: StandInKind): kind is AttachingKind =>
  (attachingKinds as readonly string[]).includes(kind);

/** Returns the values of a key, the effective one first; an empty list if the map lacks the key. */
type ReadAll = (map: object, name: string) => readonly unknown[];

function readAll(map: object, name: string, overwritten: Overwritten): readonly unknown[] {
  const earlier = (overwritten.get(map) ?? []).flatMap(([key, value]) => (key === name ? [value] : []));
  return Object.hasOwn(map, name) ? [(map as Record<string, unknown>)[name], ...earlier] : earlier;
}

/** The kind, if its group matches that of the kind, cannot be read, or is misspelt. */
function standInKindOf(apiVersion: unknown, written: unknown): StandInKind | [] {
  if (typeof written !== "string") return [];
  const similar = mostSimilar(written, standInKinds);
  const kind = standInKinds.find((one) => one === written) ?? standInKinds.find((one) => one === similar);
  if (kind === undefined) return [];
  if (typeof apiVersion !== "string") return kind;
  const slash = apiVersion.indexOf("/");
  const group = slash === -1 ? apiVersion : apiVersion.slice(0, slash);
  const { group: own } = definitionOf(kind);
  // The manifest names another existing kind of the group, so it is not a misspelt one.
  if (kind !== written && kindOfGroup(group, written) !== undefined) return [];
  const isMeant = isOfOwnDomain(own) && isOfOwnDomain(group);
  return isMeant || mostSimilar(group, [own]) !== undefined ? kind : [];
}

/** Class defaults, with numbers and booleans converted to text; undefined if `spec` or the defaults are not a map. */
function readDefaults(value: object, all: ReadAll): Readonly<Record<string, string>> | undefined {
  const defaults: Record<string, string> = {};
  for (const spec of all(value, "spec")) {
    if (!isRecord(spec)) return undefined;
    for (const name of Object.keys(spec)) {
      if (mostSimilar(name, ["defaultAnnotations"]) === undefined) continue;
      for (const map of all(spec, name).toReversed()) {
        if (!isRecord(map)) return undefined;
        for (const [key, written] of Object.entries(map)) {
          const text = typeof written === "string" ? written : (readText(written) ?? JSON.stringify(written));
          if (written !== null && written !== undefined) setOwn(defaults, key, text);
        }
      }
    }
  }
  return defaults;
}

/** The entries of all fields of the object, at any level, that are named like a list of target references. */
function readTargets(value: object, kind: AttachingKind, all: ReadAll): readonly ClosedTarget[] {
  const targets: ClosedTarget[] = [];
  const visit = (current: unknown): void => {
    if (Array.isArray(current)) current.forEach(visit);
    if (!isRecord(current)) return;
    const names = new Set([...Object.keys(current)]);
    for (const name of names) {
      for (const field of all(current, name)) {
        if (mostSimilar(name, ["targetRefs", "targetRef"]) === undefined) visit(field);
        else targets.push(...[field].flat().flatMap((entry) => readTarget(entry, kind, all)));
      }
    }
  };
  visit(value);
  return targets.slice(0, maxTargets);
}

function readTarget(entry: unknown, kind: AttachingKind, all: ReadAll): readonly ClosedTarget[] {
  const bare = readText(entry);
  if (bare !== undefined) return [{ kind: defaultTargets[kind], name: bare }];
  if (!isRecord(entry)) return [];
  const values = (field: string): readonly string[] =>
    Object.keys(entry)
      .filter((key) => mostSimilar(key, fieldsOfTarget) === field)
      .flatMap((key) => all(entry, key))
      .flatMap((value) => readText(value) ?? []);
  const [writtenKind = ""] = values("kind");
  const similar = mostSimilar(writtenKind, closableKinds);
  const target = closableKinds.find((one) => one === similar) ?? defaultTargets[kind];
  const sections = values("sectionName");
  return values("name").map((name) => ({
    kind: target,
    name,
    // With two section names, the reference is ambiguous and closes the whole object.
    ...(sections.length === 1 && { sectionName: sections[0] }),
  }));
}

const fieldsOfTarget = ["group", "kind", "name", "namespace", "sectionName"];

/** Text, or a number or boolean where text was expected. */
function readText(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return text === "" ? undefined : text;
}
