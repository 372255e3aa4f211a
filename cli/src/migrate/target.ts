/** The interface of the targets of a migration. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import type { canaryPaths } from "./canaries.ts";
import type { MovedUnit } from "./compare.ts";
import type { ManifestNode } from "./manifest-texts.ts";
import type { ServedUnit } from "./served-units.ts";

/** The objects that replace an Ingress. */
export type MigratedObjects = {
  /** Returns the replacement for its text. */
  readonly replace: (node: ManifestNode) => readonly ManifestNode[];
  readonly moved: readonly MovedUnit[];
  /** The Secrets with users that its annotations name, as `namespace/name`. */
  readonly userLists: readonly string[];
};

export type TargetInput = {
  /** The objects of the manifests, and those that they name but do not contain. */
  readonly world: World;
  readonly translation: Translation;
  /** The paths of each Ingress (`namespace/name`). */
  readonly unitsOf: (ingress: string) => readonly ServedUnit[];
  /** The Ingresses to migrate, without canaries, the oldest first. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  /** Whether an annotation is of ingress-nginx. */
  readonly isForeign: (key: string) => boolean;
  /** Whether the port number of the endpoint set of this name was guessed. */
  readonly isGuessed: (endpoints: string) => boolean;
};

/** Writes all Ingresses for one target. */
export type Writer = {
  write(ingress: ObjectOf<"Ingress">): MigratedObjects;
  /** Returns the replacement for the text of a canary of at least one path; empty if its paths already include it. */
  writeCanary(
    ingress: ObjectOf<"Ingress">,
    paths: ReturnType<typeof canaryPaths>,
  ): MigratedObjects["replace"];
  /** The objects that belong to no Ingress, for a separate file. */
  readonly shared: readonly KubeObject[];
  /** The Secrets (`namespace/name`) with authorities and certificates that policies name and that lack the label. */
  readonly authorities: readonly string[];
  /** The objects of the cluster that the written objects need, for the comparison. */
  readonly assumed: readonly KubeObject[];
  /** Returns the units that are served afterwards, by the keys in `MovedUnit`. */
  served(translation: Translation): ReadonlyMap<string, ServedUnit>;
  /** The steps to be done by hand, as sentences or commands. */
  readonly todo: readonly string[];
};

export type Target = {
  prepare(input: TargetInput): Writer;
};
