import type { Result } from "@svc-gateway/common/values/result.ts";
import type { KindName } from "../api/kinds.ts";
import type { Build } from "../build/table-builder.ts";
import type { StatusWriter } from "../write/status-writer.ts";

export type ReconcileContext = {
  /** The last build. */
  readonly build: Build;
  readonly statuses: StatusWriter;
  /** The leader's term: nothing is written after it. */
  readonly signal: AbortSignal;
};

/**
 * Brings objects of one kind in line with the last build. To add a kind, write one of these beside the others and put it
 * into the list of `index.ts`.
 */
export type Reconciler = {
  /** Label `controller` of its metrics and field of its log lines: the kind in lower case. */
  readonly controller: string;
  /** The kind whose objects are reconciled again when their status was changed by another writer. */
  readonly kind?: KindName;
  /** The objects whose status waits for what proxies report: they are reconciled again when those report something. */
  waitingForProxies?(): Iterable<string>;
  /**
   * The objects (`namespace/name`) that may be out of line since the previous build; without a previous build, all of
   * them. It may name too many, but never too few.
   */
  dirty(previous: Build | undefined, next: Build): Iterable<string>;
  /** Calls back with an object to reconcile for another reason; the returned function ends it. */
  subscribe?(look: (name: string) => void): () => void;
  /** Compares what is with what should be, and writes the difference. The value is one word for the log. */
  reconcile(name: string, context: ReconcileContext): Promise<Result<string>>;
};
