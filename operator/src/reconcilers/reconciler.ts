import type { Result } from "@svc-gateway/common/values/result.ts";
import type { KindName } from "../api/kinds.ts";
import type { Build } from "../build/table-builder.ts";
import type { StatusWriter } from "../write/status-writer.ts";

export type ReconcileContext = {
  /** The last build. */
  readonly build: Build;
  readonly statuses: StatusWriter;
  /** Aborts at the end of the leader's term; nothing is written after it. */
  readonly signal: AbortSignal;
};

/**
 * Reconciles objects of one kind with the last build. To add a kind, write a reconciler beside the others and add it to
 * the list in `index.ts`.
 */
export type Reconciler = {
  /** The label `controller` of its metrics and the field of its log lines: the kind in lower case. */
  readonly controller: string;
  /** The kind whose objects are reconciled again when another writer has changed their status. */
  readonly kind?: KindName;
  /** The objects whose status waits for reports of proxies; they are reconciled again when proxies report something. */
  waitingForProxies?(): Iterable<string>;
  /**
   * The objects (`namespace/name`) that the build may have changed; without a previous build, all of them. It may
   * return too many, but never too few.
   */
  dirty(previous: Build | undefined, next: Build): Iterable<string>;
  /** Calls back with an object to reconcile for another reason; the returned function ends that. */
  subscribe?(look: (name: string) => void): () => void;
  /** Compares the present state with the desired one and writes the difference. The value is one word for the log. */
  reconcile(name: string, context: ReconcileContext): Promise<Result<string>>;
};
