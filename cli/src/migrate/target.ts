/** What manifests are migrated to. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import type { Translation } from "@svc-gateway/operator/translate/translation.ts";
import type { World } from "@svc-gateway/operator/world.ts";
import type { canaryPaths } from "./canaries.ts";
import type { MovedUnit } from "./compare.ts";
import type { ManifestNode } from "./manifest-texts.ts";
import type { ServedUnit } from "./served-units.ts";

/** What an Ingress becomes. */
export type MigratedObjects = {
  /** What takes the place of its text. */
  readonly replace: (node: ManifestNode) => readonly ManifestNode[];
  readonly moved: readonly MovedUnit[];
  /** Secrets with users that its policies name, as `namespace/name`. */
  readonly userLists: readonly string[];
};

export type TargetInput = {
  /** The manifests, and what they name and do not hold. */
  readonly world: World;
  readonly translation: Translation;
  /** The paths of each Ingress (`namespace/name`). */
  readonly unitsOf: (ingress: string) => readonly ServedUnit[];
  /** The Ingresses to be migrated, without canaries, the oldest first. */
  readonly ingresses: readonly ObjectOf<"Ingress">[];
  /** Whether an annotation is of ingress-nginx. */
  readonly isForeign: (key: string) => boolean;
  /** Whether the number of a port, by the name of its endpoint set, was guessed. */
  readonly isGuessed: (endpoints: string) => boolean;
};

/** One way of writing all Ingresses. */
export type Writer = {
  write(ingress: ObjectOf<"Ingress">): MigratedObjects;
  /** What takes the place of the text of a canary that takes a part of these paths, at least one; nothing where they say it themselves. */
  writeCanary(
    ingress: ObjectOf<"Ingress">,
    paths: ReturnType<typeof canaryPaths>,
  ): MigratedObjects["replace"];
  /** Objects that belong to no Ingress, in a file of their own; none where there is nothing to be written. */
  readonly shared: readonly KubeObject[];
  /** Secrets (`namespace/name`) with authorities and certificates that policies name, and that lack the label. */
  readonly authorities: readonly string[];
  /** Objects of the cluster that what is written needs, for the comparison. */
  readonly assumed: readonly KubeObject[];
  /** The paths that are served afterwards, by the keys of moved units. */
  served(translation: Translation): ReadonlyMap<string, ServedUnit>;
  /** What has to be done by hand, as sentences or commands. */
  readonly todo: readonly string[];
};

export type Target = {
  prepare(input: TargetInput): Writer;
};
