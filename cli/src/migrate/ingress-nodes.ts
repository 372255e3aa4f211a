/** Edits the text of an Ingress: class, annotations and rules change; the rest is kept, with comments and order. */
import { isMap, isScalar, isSeq, Pair, Scalar, type YAMLMap } from "yaml";
import { annotationPrefix } from "@svc-gateway/common/features/definition.ts";
import type { IngressPart } from "./ingress-parts.ts";
import { createNode, type ManifestNode } from "./manifest-texts.ts";

/** The fields and annotations that an API server or kubectl adds, or that belong to the previous object. */
export const serverFields = ["uid", "resourceVersion", "generation", "managedFields", "selfLink"];
export const ofServer = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "kubernetes.io/ingress.class",
]);
/** The annotations of cert-manager, which only the first Ingress keeps. */
export const ofIssuer = /^(?:[a-z.]*cert-manager\.io\/|kubernetes\.io\/tls-acme$)/;

export type EditOptions = {
  readonly className: string;
  /** Whether an annotation is of ingress-nginx. */
  readonly isForeign: (key: string) => boolean;
};

/** The nodes of the Ingresses that replace one. */
export const editIngress = (
  node: ManifestNode,
  parts: readonly IngressPart[],
  options: EditOptions,
): readonly ManifestNode[] =>
  parts.map((part, at) => editPart(node.clone() as YAMLMap, part, at === 0, parts.length > 1, options));

function editPart(
  node: YAMLMap,
  part: IngressPart,
  isFirst: boolean,
  isSplit: boolean,
  options: EditOptions,
): YAMLMap {
  node.delete("status");
  for (const field of serverFields) node.deleteIn(["metadata", field]);
  if (!isFirst) {
    node.commentBefore = null;
    node.setIn(["metadata", "name"], part.name);
    node.deleteIn(["metadata", "creationTimestamp"]);
    node.deleteIn(["spec", "tls"]);
  }
  editAnnotations(node, part.annotations, isFirst, options);
  node.deleteIn(["spec", "ingressClassName"]);
  const spec = node.get("spec", true);
  if (!isMap(spec)) node.set("spec", createNode({ ingressClassName: options.className }));
  else spec.items.unshift(new Pair(new Scalar("ingressClassName"), new Scalar(options.className)));
  if (isSplit || !haveSameRules(node, part)) {
    if (part.rules.length === 0) node.deleteIn(["spec", "rules"]);
    else node.setIn(["spec", "rules"], createNode([...part.rules]));
    if (part.defaultBackend === undefined) node.deleteIn(["spec", "defaultBackend"]);
  }
  return node;
}

/** Whether the rules in the text equal those to be written, so that the text is kept. */
function haveSameRules(node: YAMLMap, { rules }: IngressPart): boolean {
  const written = node.getIn(["spec", "rules"], true);
  const before = isSeq(written) ? (written.toJSON() as unknown) : [];
  return JSON.stringify(sorted(before)) === JSON.stringify(sorted(rules));
}

/** Copies a value with the names of fields in alphabetical order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

function editAnnotations(
  node: YAMLMap,
  own: IngressPart["annotations"],
  isFirst: boolean,
  { isForeign }: EditOptions,
): void {
  const names = Object.keys(own).sort();
  const added = names.map(
    (name) => new Pair(new Scalar(`${annotationPrefix}${name}`), valueNode(own[name] ?? "")),
  );
  const found = node.getIn(["metadata", "annotations"], true);
  if (!isMap(found)) {
    if (added.length === 0) return;
    const map = createNode({});
    map.items.push(...added);
    node.setIn(["metadata", "annotations"], map);
    return;
  }
  const keyOf = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key));
  const leaves = (key: string): boolean =>
    isForeign(key) ||
    ofServer.has(key) ||
    (!isFirst && ofIssuer.test(key)) ||
    Object.hasOwn(own, key.slice(annotationPrefix.length));
  const first = found.items.findIndex(({ key }) => isForeign(keyOf(key)));
  const before = found.items.slice(0, first === -1 ? found.items.length : first);
  const after = found.items.slice(before.length);
  found.items = [
    ...before.filter(({ key }) => !leaves(keyOf(key))),
    ...added,
    ...after.filter(({ key }) => !leaves(keyOf(key))),
  ];
  if (found.items.length === 0) node.deleteIn(["metadata", "annotations"]);
}

/** Creates a scalar: a block for several lines, in quotes if YAML would otherwise read another value. */
function valueNode(text: string): Scalar {
  const scalar = new Scalar(text);
  if (text.includes("\n")) scalar.type = Scalar.BLOCK_LITERAL;
  else if (
    !/^[A-Za-z][A-Za-z0-9 /_.-]*$/.test(text) ||
    /^(?:true|false|yes|no|on|off|y|n|null)$/i.test(text)
  ) {
    scalar.type = Scalar.QUOTE_DOUBLE;
  }
  return scalar;
}
