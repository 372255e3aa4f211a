import type { Reconciler } from "../reconciler.ts";

/** Objects (`namespace/name`) whose status is not final because it waits for reports of proxies. */
export type ProxyWaiters = { note(name: string, waits: boolean): void };

/**
 * Creates a reconciler that, when proxies report, reconciles only the objects that wait for them: once a listener is
 * programmed it remains so, and proxies report every change.
 */
export function withProxyWaiters(create: (waiters: ProxyWaiters) => Reconciler): Reconciler {
  const waiting = new Set<string>();
  const reconciler = create({
    note(name, waits) {
      if (waits) waiting.add(name);
      else waiting.delete(name);
    },
  });
  return {
    ...reconciler,
    waitingForProxies: () => [...waiting],
    reconcile(name, context) {
      // A deleted object is no longer recorded as waiting.
      waiting.delete(name);
      return reconciler.reconcile(name, context);
    },
  };
}

/** Whether a condition `Programmed` is pending, for proxies or for something else that is expected. */
export const isPending = (conditions: unknown): boolean =>
  Array.isArray(conditions) &&
  (conditions as readonly { readonly type?: unknown; readonly reason?: unknown }[]).some(
    ({ type, reason }) => type === "Programmed" && reason === "Pending",
  );
