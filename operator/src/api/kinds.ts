/** The kinds that this gateway reads, as data. All code that lists, watches, parses or names kinds is based on it. */
import { kindDefinitions, type KubeObjects } from "./generated/index.ts";
import type { KindDefinition } from "./schema.ts";

export type KindName = keyof KubeObjects;

/** The type of an object of kind K. */
export type ObjectOf<K extends KindName> = KubeObjects[K];

/** Any object that this gateway reads, by its `kind`. */
export type KnownObject = KubeObjects[KindName];

/** Every kind, in alphabetical order. */
export const kindNames: readonly KindName[] = Object.keys(kindDefinitions) as KindName[];

/** The definition of a kind: group, versions read (preferred first), plural, scope, schema. */
export const definitionOf = (kind: KindName): KindDefinition => kindDefinitions[kind];

/** The preferred `group/version`, or only the version for the core group. */
export const apiVersionOf = (kind: KindName): string => {
  const { group, versions } = kindDefinitions[kind];
  return formatApiVersion(group, versions[0] ?? "");
};

const byApiVersion: ReadonlyMap<string, KindName> = new Map(
  kindNames.flatMap((kind) =>
    kindDefinitions[kind].versions.map((version): [string, KindName] => [
      `${formatApiVersion(kindDefinitions[kind].group, version)} ${kind}`,
      kind,
    ]),
  ),
);

/** The kind of a manifest; undefined if this gateway does not read that kind in that version. */
export const kindOf = (apiVersion: string, kind: string): KindName | undefined =>
  byApiVersion.get(`${apiVersion} ${kind}`);

/** The kind of this API group in any version, or undefined; `group` is empty for the core group. */
export const kindOfGroup = (group: string, kind: string): KindName | undefined =>
  kindNames.find((name) => name === kind && kindDefinitions[name].group === group);

function formatApiVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}
