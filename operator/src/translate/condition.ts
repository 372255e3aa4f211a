/** A condition that this controller reports about an object (Kubernetes API conventions, "Typical status properties"). */
export type DesiredCondition = {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** As of a refusal. */
  readonly field?: string;
  /** The generation that it was worked out from, where that is not the object's present one. */
  readonly observedGeneration?: number;
};

/** Why something is not as it was asked for: the reason of a condition, and a sentence for the person who asked. */
export type ConditionReason = {
  readonly reason: string;
  readonly message: string;
  /** The field that is wrong, where the message begins with it and a colon: from `spec` on, or within a listener. */
  readonly field?: string;
};

/** What is wrong with a part of an object: at which field, and what happens to that part instead. */
export type Fault = {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
  readonly consequence: string;
};

/** The refusal with the field that it is about, which an object may have many of. */
export const reasonAt = (field: string, { reason, message }: ConditionReason): ConditionReason => ({
  reason,
  message: `${field}: ${message}`,
  field,
});

/** A condition that holds unless there is a refusal. */
export const conditionOf = (
  type: string,
  refusal: ConditionReason | undefined,
  otherwise: ConditionReason,
): DesiredCondition => ({
  type,
  status: refusal === undefined ? "True" : "False",
  ...(refusal ?? otherwise),
});
