/**
 * A condition that this controller reports about an object (Kubernetes API conventions, "Typical status
 * properties").
 */
export type DesiredCondition = {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
  /** As in ConditionReason. */
  readonly field?: string;
  /** The generation that the condition refers to, if it is not the current one of the object. */
  readonly observedGeneration?: number;
};

/**
 * The reason why something is not as requested: the reason of a condition, and a sentence for the author of the
 * object.
 */
export type ConditionReason = {
  readonly reason: string;
  readonly message: string;
  /** The faulty field, if the message begins with it and a colon. The path begins at `spec`, or within a listener. */
  readonly field?: string;
};

/** The fault of a part of an object: the field of the part, and the consequence for it. */
export type Fault = {
  readonly field: string;
  readonly reason: string;
  readonly message: string;
  readonly consequence: string;
};

/** The reason with the field that it refers to, for objects with many such fields. */
export const reasonAt = (field: string, { reason, message }: ConditionReason): ConditionReason => ({
  reason,
  message: `${field}: ${message}`,
  field,
});

/** A condition that is True unless there is a refusal. */
export const conditionOf = (
  type: string,
  refusal: ConditionReason | undefined,
  otherwise: ConditionReason,
): DesiredCondition => ({
  type,
  status: refusal === undefined ? "True" : "False",
  ...(refusal ?? otherwise),
});
