import { formatNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import { definitionOf, type KindName } from "../../api/kinds.ts";
import { nameOf, refOf, type KubeObject } from "../../api/object.ts";
import type { AbsentObject } from "./absent-objects.ts";
import { createHeldObjects, type HeldObjects } from "./held-objects.ts";
import type { InstalledKind } from "./installed-kinds.ts";
import { weigh, type Weighed } from "./namespace-budgets.ts";
import { ownSecret, plainSecret, usableSecret } from "./secret-data.ts";

/** The selection of one list-and-watch. Those of Secrets are narrow, so that other Secrets never reach this process. */
export type Selection = {
  /** The namespace to read; undefined for all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
};

/** A list-and-watch of a kind with its objects. */
export type Watched = {
  readonly kind: KindName;
  readonly installed: InstalledKind;
  readonly selection: Selection;
  /** The index among the watches of its kind. */
  readonly index: number;
  readonly own: HeldObjects;
  /** Known objects that are not held, by `namespace/name`. */
  readonly absent: Map<string, AbsentObject>;
  /** Reduces an object to the part that is held. */
  readonly reduce: (object: KubeObject) => KubeObject;
};

const everything: readonly Selection[] = [{}];
const secretSelections: readonly Selection[] = [
  { fieldSelector: "type=kubernetes.io/tls" },
  { labelSelector: "ingress.svc-labs.dev/auth-basic=true" },
  { labelSelector: "ingress.svc-labs.dev/auth-tls=true" },
];

/**
 * Secrets without a label, which Ingresses of ingress-nginx name. Secrets that other watches select are excluded, so
 * that they are not held twice.
 */
const plainSecrets: Selection = {
  fieldSelector: "type=Opaque",
  labelSelector: "ingress.svc-labs.dev/auth-basic!=true,ingress.svc-labs.dev/auth-tls!=true",
};

const byName = ({ namespace, name }: NamespacedName): Selection => ({
  namespace,
  fieldSelector: `metadata.name=${name}`,
});

export type WatchedOptions = {
  /** The namespaces that may be read; undefined for all namespaces. */
  readonly namespaces?: readonly string[] | undefined;
  /** Secrets that are read by name, for any type and labels. */
  readonly ownSecrets: readonly NamespacedName[];
  /** Whether Secrets of type Opaque need no label. */
  readonly readsPlainSecrets?: boolean;
};

/** The watches of a kind: one for each selection and namespace. */
export function watchesOf(
  installed: InstalledKind,
  { namespaces, ownSecrets, readsPlainSecrets = false }: WatchedOptions,
): readonly Watched[] {
  const { kind } = installed;
  const isSecret = kind === "Secret";
  const own = new Set(ownSecrets.map(formatNamespacedName));
  const ofSecrets = readsPlainSecrets ? [...secretSelections, plainSecrets] : secretSelections;
  const ofKind = isSecret ? ofSecrets : everything;
  const selections = [
    ...(namespaces === undefined || !definitionOf(kind).namespaced
      ? ofKind
      : namespaces.flatMap((namespace) => ofKind.map((selection) => ({ ...selection, namespace })))),
    ...(isSecret ? ownSecrets.map(byName) : []),
  ];
  const reduceOther = readsPlainSecrets ? plainSecret : usableSecret;
  const reduceSecret = (object: KubeObject): KubeObject =>
    own.has(nameOf(refOf(object))) ? ownSecret(object) : reduceOther(object);
  return selections.map((selection, index) => ({
    kind,
    installed,
    selection,
    index,
    own: createHeldObjects(),
    absent: new Map(),
    reduce: isSecret ? reduceSecret : (object) => object,
  }));
}

/** Kinds that protect others are left out last: without them, the objects that they protect would be open. */
const protectingKinds: ReadonlySet<KindName> = new Set([
  "BackendTLSPolicy",
  "BasicAuth",
  "ClientTrafficPolicy",
  "IpAccessControl",
  "JwtAuth",
  "SvcBackendPolicy",
  "SvcExternalAuth",
]);

/**
 * Returns the memory that an object takes. Objects without a namespace belong to cluster operators and are not limited.
 */
export function weighed(kind: KindName, object: KubeObject): Weighed {
  const { namespace = "", creationTimestamp = "" } = object.metadata;
  const createdMs = Date.parse(creationTimestamp);
  return {
    namespace,
    bytes: namespace === "" ? 0 : weigh(object),
    rank: protectingKinds.has(kind) ? 0 : 1,
    createdMs: Number.isNaN(createdMs) ? 0 : createdMs,
  };
}
