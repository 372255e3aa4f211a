/** Replaces the text of an Ingress by routes; comments, labels and other annotations are kept. */
import { isCollection, isMap, isPair, isScalar, Pair, Scalar, visit, type YAMLMap } from "yaml";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { createNode, type ManifestNode } from "../manifest-texts.ts";
import { serverFields } from "../ingress-nodes.ts";

export type RouteEdit = {
  readonly routes: readonly KubeObject[];
  /** The objects that follow the routes. */
  readonly others: readonly KubeObject[];
  /** Whether an annotation is removed, because it does not belong to a route. */
  readonly leaves: (key: string) => boolean;
};

/** The nodes of the objects that replace an Ingress; the first route keeps its comments. */
export function editRoutes(
  node: ManifestNode,
  { routes, others, leaves }: RouteEdit,
): readonly ManifestNode[] {
  const [first, ...further] = routes;
  if (first === undefined) return others.map((one) => createNode(one));
  return [
    editFirst(node.clone() as YAMLMap, first, leaves),
    ...[...further, ...others].map((one) => createNode(one)),
  ];
}

function editFirst(node: YAMLMap, route: KubeObject, leaves: RouteEdit["leaves"]): YAMLMap {
  const comments = commentsBelow(node.get("spec", true));
  node.set("apiVersion", route.apiVersion);
  node.set("kind", route.kind);
  node.delete("status");
  for (const field of [...serverFields, "creationTimestamp"]) node.deleteIn(["metadata", field]);
  node.setIn(["metadata", "name"], route.metadata.name);
  const annotations = node.getIn(["metadata", "annotations"], true);
  if (isMap(annotations)) {
    annotations.items = annotations.items.filter(
      ({ key }) => !leaves(isScalar(key) ? String(key.value) : ""),
    );
    if (annotations.items.length === 0) node.deleteIn(["metadata", "annotations"]);
  }
  const spec = createNode((route as unknown as { readonly spec: object }).spec);
  const place = node.items.findIndex(({ key }) => isScalar(key) && key.value === "spec");
  const pair = new Pair(new Scalar("spec"), spec);
  if (place === -1) node.items.push(pair as (typeof node.items)[number]);
  else node.items[place] = pair as (typeof node.items)[number];
  if (comments.length > 0) spec.commentBefore = comments.join("\n");
  return node;
}

/** The comments within a node that is replaced, in order. */
function commentsBelow(node: unknown): readonly string[] {
  const found: string[] = [];
  if (!isCollection(node)) return found;
  visit(node, (_, one) => {
    if (isPair(one) || one === null || typeof one !== "object") return;
    const { commentBefore, comment } = one as { commentBefore?: string | null; comment?: string | null };
    for (const text of [commentBefore, comment]) if (text) found.push(text);
  });
  return found;
}
