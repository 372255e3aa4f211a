/** The input and output of writers, which express parts of a route as resources of this gateway. See README.md. */
import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { apiVersionOf, type KindName } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";

/**
 * The degree of a difference. `changed`: the setting is kept, with a difference that clients notice rarely or not at
 * all. `lost`: the setting is not kept.
 */
export type Loss = "changed" | "lost";

/** A note on something that cannot be expressed exactly. */
export type Note = {
  /**
   * The property of the route that differs after it is written, such as `features.max-body-size.early` or `choices`,
   * including everything below it. A note without an actual difference is not reported.
   */
  readonly property: string;
  readonly loss: Loss;
  /** One sentence: the behaviour afterwards, or why the property cannot be expressed. */
  readonly text: string;
  /** Set if the lost property is protective: the paths answer every request with 403 instead of being open. */
  readonly closes?: true;
  /** The property under which the note is reported, if another property differs because of it. */
  readonly of?: string;
  /** The Ingress (`namespace/name`) whose setting applies instead, if both share an object that has only one value. */
  readonly decidedBy?: string;
};

/** A part of a route as annotations of this gateway. */
export type Written = {
  /** The annotations by names without prefix. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly notes?: readonly Note[];
};

/** A policy of this project without a name. */
export type OwnObject = Pick<KubeObject, "apiVersion" | "kind"> & {
  readonly spec: Readonly<Record<string, unknown>>;
};

/** Creates a policy of a kind. */
export const policy = (kind: KindName, spec: OwnObject["spec"]): OwnObject => ({
  apiVersion: apiVersionOf(kind),
  kind,
  spec,
});

/** The input of a writer in addition to the value. */
export type WriterContext = {
  /** The namespace of the Ingress. */
  readonly namespace: string;
  readonly route: Route;
  /** Defines an object that is written next to the Ingress, and returns its name. Equal objects become one. */
  readonly define: (object: OwnObject) => string;
};

/** Expresses a value of a feature in annotations. Pure, except for the objects that it defines. */
export type FeatureWriter<S extends FeatureSlug> = (
  value: NonNullable<RouteFeatures[S]>,
  context: WriterContext,
) => Written;

/** The result of a writer for a value that annotations cannot express at all. */
export const unsayable = (slug: FeatureSlug, text: string, closes?: "closes"): Written => ({
  notes: [
    {
      property: `features.${slug}`,
      loss: "lost",
      text,
      ...(closes !== undefined && { closes: true as const }),
    },
  ],
});

/** A note about a property of a feature if the condition is true; otherwise none. */
export const noteIf = (condition: boolean, property: string, loss: Loss, text: string): readonly Note[] =>
  condition ? [{ property: `features.${property}`, loss, text }] : [];
