/** What a part of a route is in this project's own terms: what writers get, and what they give. See README.md. */
import type { FeatureSlug, RouteFeatures } from "@svc-gateway/common/features/registry.ts";
import type { Route } from "@svc-gateway/common/ir/route.ts";
import { apiVersionOf, type KindName } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";

/**
 * How much of something is left. `changed`: it is there, with a difference that clients notice in rare cases or not at all.
 * `lost`: it is not there.
 */
export type Loss = "changed" | "lost";

/** Something that cannot be said as it is. */
export type Note = {
  /**
   * The property that differs after it is written, from the route: `features.max-body-size.early`, `choices`. Everything below
   * it is meant as well. A note about what does not differ is not reported.
   */
  readonly property: string;
  readonly loss: Loss;
  /** One sentence: how it is afterwards, or why it cannot be said. */
  readonly text: string;
  /** It protects, and is lost: the paths answer 403 to every request instead of being open. */
  readonly closes?: true;
  /** The property that it is reported as, where another one differs because of it. */
  readonly of?: string;
  /** The Ingress (`namespace/name`) of which the same setting decides instead, where what both share has one value. */
  readonly decidedBy?: string;
};

/** A part of a route as annotations of this gateway. */
export type Written = {
  /** Values by names without prefix. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly notes?: readonly Note[];
};

/** A policy of this project before it has a name. */
export type OwnObject = Pick<KubeObject, "apiVersion" | "kind"> & {
  readonly spec: Readonly<Record<string, unknown>>;
};

/** An object of a kind. */
export const policy = (kind: KindName, spec: OwnObject["spec"]): OwnObject => ({
  apiVersion: apiVersionOf(kind),
  kind,
  spec,
});

/** What a writer can use besides the value. */
export type WriterContext = {
  /** The namespace of the Ingress. */
  readonly namespace: string;
  readonly route: Route;
  /**
   * The name, in the namespace of the Ingress, of an object that is written beside it. Equal objects of an Ingress are one
   * object.
   */
  readonly define: (object: OwnObject) => string;
};

/** Says a value of a feature in annotations. Pure but for the objects that it defines. */
export type FeatureWriter<S extends FeatureSlug> = (
  value: NonNullable<RouteFeatures[S]>,
  context: WriterContext,
) => Written;

/** The answer of a writer for what annotations cannot say at all. */
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

/** A note about a property of a feature, where the condition holds. */
export const noteIf = (condition: boolean, property: string, loss: Loss, text: string): readonly Note[] =>
  condition ? [{ property: `features.${property}`, loss, text }] : [];
