/** The parts of Kubernetes ObjectMeta that this project reads. Timestamps are RFC 3339 text. */
export type ObjectMeta = {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: { readonly [key: string]: string };
  readonly annotations?: { readonly [key: string]: string };
  readonly ownerReferences?: readonly {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
    readonly controller?: boolean;
  }[];
};

/** The metadata of a namespaced object; validateObject fills in the namespace "default" where a manifest has none. */
export type NamespacedMeta = ObjectMeta & { readonly namespace: string };

/** The fields of every Kubernetes object. Stored objects are never mutated, so identical objects have equal content. */
export type KubeObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
};

/** Identifies an object in a message, an Event or a status. `namespace` is absent for cluster-scoped kinds. */
export type ObjectRef = {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
};

export const refOf = (object: KubeObject): ObjectRef =>
  object.metadata.namespace === undefined
    ? { kind: object.kind, name: object.metadata.name }
    : { kind: object.kind, namespace: object.metadata.namespace, name: object.metadata.name };

/** `namespace/name`, or `name` for cluster-scoped objects. */
export const nameOf = (ref: { readonly namespace?: string; readonly name: string }): string =>
  ref.namespace === undefined ? ref.name : `${ref.namespace}/${ref.name}`;

export const formatRef = (ref: ObjectRef): string => `${ref.kind} ${nameOf(ref)}`;
