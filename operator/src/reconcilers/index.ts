import { ingressReconciler, type IngressReconcilerOptions } from "./ingress.ts";
import type { Reconciler } from "./reconciler.ts";

/** Every reconciler of the controller, one per kind. */
export const createReconcilers = (options: IngressReconcilerOptions): readonly Reconciler[] => [
  ingressReconciler(options),
];
