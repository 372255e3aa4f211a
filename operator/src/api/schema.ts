/**
 * The subset of the structural OpenAPI v3 schema of Kubernetes that describes the kinds of this gateway. The JSON files
 * under schemas/ contain nothing else; scripts/generate-api.ts generates them.
 */
export type Schema = {
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  /** A name for the generated TypeScript type of this object. */
  readonly title?: string;
  readonly format?: string;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-list-type"?: "set" | "map";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
};

/** One CEL rule; `self` is the value to which the rule belongs, `oldSelf` its value before an update. */
export type ValidationRule = { readonly rule: string; readonly message?: string };

/** One file of schemas/: a kind, the versions under which it is read (preferred first) and the preferred schema. */
export type KindDefinition = {
  readonly kind: string;
  /** The API group; empty for the core group. */
  readonly group: string;
  readonly versions: readonly string[];
  readonly plural: string;
  readonly namespaced: boolean;
  /** The schema without apiVersion, kind and metadata, which are the same for every kind. */
  readonly schema: Schema;
};
