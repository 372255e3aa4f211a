/** Permissions to refer to objects of another namespace. See docs/cross-namespace-references.md. */
import { definitionOf, type KindName, type ObjectOf } from "../api/kinds.ts";
import { objectsIn, type World } from "../world.ts";
import { withArticle } from "./text.ts";

/** The object that contains a reference. */
export type Referrer = { readonly kind: KindName; readonly namespace: string };

/** The object that a reference names, whether it exists or not. */
export type Referent = { readonly kind: KindName; readonly namespace: string; readonly name: string };

/**
 * Whether a reference is permitted: within a namespace always, and into another one if a ReferenceGrant of that
 * namespace allows it (GEP-709).
 */
export type Permits = (from: Referrer, to: Referent) => boolean;

/** The message about a reference that is not permitted. `named` describes its target, which is in `namespace`. */
export const noGrant = (namespace: string, from: Referrer, named: string): string =>
  `No ReferenceGrant in namespace ${namespace} lets ${withArticle(from.kind)} of ${from.namespace} use ${named}`;

/** The permissions of one World. */
export function createPermits(world: World): Permits {
  return (from, to) => {
    if (from.namespace === to.namespace) return true;
    for (const grant of objectsIn(world, "ReferenceGrant", to.namespace)) {
      if (allows(grant, from, to)) return true;
    }
    return false;
  };
}

/**
 * Whether a grant permits the reference: it permits every object under `from` to use everything under `to`. A
 * grant whose content does not match its type permits nothing.
 */
function allows({ spec }: ObjectOf<"ReferenceGrant">, from: Referrer, to: Referent): boolean {
  try {
    return (
      spec.from.some((entry) => isOfKind(entry, from.kind) && entry.namespace === from.namespace) &&
      spec.to.some(
        (entry) => isOfKind(entry, to.kind) && (entry.name === undefined || entry.name === to.name),
      )
    );
  } catch {
    return false;
  }
}

const isOfKind = (entry: { readonly group: string; readonly kind: string }, kind: KindName): boolean =>
  entry.kind === kind && entry.group === definitionOf(kind).group;
