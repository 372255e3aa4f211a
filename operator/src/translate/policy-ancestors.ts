import type { ObjectOf } from "../api/kinds.ts";
import type { DesiredCondition } from "./condition.ts";

/** What became of a policy at one object that it names, or at one listener of it. */
export type PolicyAncestor = {
  readonly target: {
    readonly group: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly sectionName?: string;
  };
  /** `Accepted`, or why it is not. */
  readonly reason: "Accepted" | "Conflicted" | "TargetNotFound" | "Invalid";
  readonly message: string;
};

/** The policies of ours that say in their status what became of them. */
export type PolicyKind = "SvcBackendPolicy" | "SvcExternalAuth" | "ClientTrafficPolicy";

/** A policy and everything that its status says. The same object as before for as long as that stays the same. */
export type PolicyAttachment<K extends PolicyKind = PolicyKind> = {
  readonly object: ObjectOf<K>;
  readonly ancestors: readonly PolicyAncestor[];
};

/** A BackendTLSPolicy and what its status says at each Gateway; the same object for as long as that stays the same. */
export type BackendTlsAttachment = {
  readonly object: ObjectOf<"BackendTLSPolicy">;
  readonly ancestors: readonly {
    readonly gateway: { readonly namespace: string; readonly name: string };
    readonly conditions: readonly DesiredCondition[];
  }[];
};
