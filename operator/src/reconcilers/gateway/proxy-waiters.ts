import type { Reconciler } from "../reconciler.ts";

/** Objects (`namespace/name`) that are not the last word yet because proxies have not reported something. */
export type ProxyWaiters = { note(name: string, waits: boolean): void };

/**
 * A reconciler that looks again at what waits for proxies, and at nothing else, when they report: once a listener is
 * programmed it stays so, and proxies report at every change of anything.
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
      // A deleted object is not noted.
      waiting.delete(name);
      return reconciler.reconcile(name, context);
    },
  };
}

/** Whether conditions say that proxies, or something else that will come, are waited for. */
export const isPending = (conditions: unknown): boolean =>
  Array.isArray(conditions) &&
  (conditions as readonly { readonly type?: unknown; readonly reason?: unknown }[]).some(
    ({ type, reason }) => type === "Programmed" && reason === "Pending",
  );
