/** The namespaces that a Gateway admits: those of routes at a listener, and those of ListenerSets. */
import type { GatewayAllowedListenersNamespacesSelector as Selector } from "../../../api/generated/gateway.ts";
import type { View } from "../../incremental/view.ts";

/** `Same` is the namespace of the object with the rule. A selector matches the labels of the Namespace. */
export type NamespaceRule =
  { readonly from: "All" | "Same" | "None" } | { readonly from: "Selector"; readonly selector: Selector };

type Written = { readonly from?: string; readonly selector?: Selector } | undefined;

/** Reads a rule. An unknown value or a missing selector admits no namespace. */
export function readNamespaceRule(written: Written, byDefault: "Same" | "None"): NamespaceRule {
  switch (written?.from ?? byDefault) {
    case "All":
      return { from: "All" };
    case "Same":
      return { from: "Same" };
    case "Selector":
      return written?.selector === undefined
        ? { from: "None" }
        : { from: "Selector", selector: written.selector };
    default:
      return { from: "None" };
  }
}

/** Whether the rule of an object in namespace `own` admits objects of `namespace`. */
export function admits(rule: NamespaceRule, own: string, namespace: string, view: View): boolean {
  switch (rule.from) {
    case "All":
      return true;
    case "Same":
      return namespace === own;
    case "None":
      return false;
    case "Selector":
      return selects(rule.selector, labelsOf(namespace, view));
  }
}

/**
 * The labels of a namespace, including its name, which the API server adds to each (Kubernetes, "Well-Known
 * Labels"). Manifests in a folder can lack this label, or the Namespace.
 */
const labelsOf = (namespace: string, view: View): { readonly [key: string]: string } => ({
  ...view.lookup("Namespace", "", namespace)?.metadata.labels,
  "kubernetes.io/metadata.name": namespace,
});

/**
 * Whether a label selector matches (Kubernetes API reference, LabelSelector). An unknown operator matches nothing, so
 * that a mistake allows no namespace.
 */
export function selects(
  { matchLabels = {}, matchExpressions = [] }: Selector,
  labels: { readonly [key: string]: string },
): boolean {
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  const hasEqual = ([key, value]: readonly [string, string]): boolean => has(key) && labels[key] === value;
  return (
    Object.entries(matchLabels).every(hasEqual) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      switch (operator) {
        case "In":
          return has(key) && values.includes(labels[key] ?? "");
        case "NotIn":
          return !has(key) || !values.includes(labels[key] ?? "");
        case "Exists":
          return has(key);
        case "DoesNotExist":
          return !has(key);
        default:
          return false;
      }
    })
  );
}
