/** The findings of validation, each with its place, the expected value and the value found. */

import { clipText } from "@svc-gateway/common/values/clip.ts";

/** One finding about an object. `path` is dotted, with list positions in brackets: "spec.rules[0].http.paths". */
export type SchemaProblem = {
  readonly path: string;
  readonly message: string;
  /** Set for a warning about an unknown field whose name resembles a known one. */
  readonly isMisspelt?: true;
};

/** Collects findings while one object is visited. `path` is the current place; steps are pushed and popped. */
export type Findings = {
  readonly path: (string | number)[];
  readonly errors: SchemaProblem[];
  readonly warnings: SchemaProblem[];
  /** The number of values that may still be visited; at 0 the walk ends. */
  valuesLeft: number;
};

/** The largest number of findings of one severity for one object; one more reports that others are not listed. */
const maxFindings = 50;

/**
 * The largest number of values of one object. The 3 MiB that the API server accepts in a request have room for no more
 * useful fields.
 */
const maxValues = 300_000;

export const createFindings = (): Findings => ({ path: [], errors: [], warnings: [], valuesLeft: maxValues });

export const reportError = (findings: Findings, message: string): void => {
  keep(findings.errors, findings.path, message);
};

export const reportWarning = (findings: Findings, message: string): void => {
  keep(findings.warnings, findings.path, message);
};

/** Reports an unknown field whose name resembles a known one. */
export const reportMisspelt = (findings: Findings, message: string): void => {
  keep(findings.warnings, findings.path, message, { isMisspelt: true });
};

/** Reports an error below the current place. */
export const reportErrorAt = (
  findings: Findings,
  steps: readonly (string | number)[],
  message: string,
): void => {
  keep(findings.errors, [...findings.path, ...steps], message);
};

/** Reports a warning below the current place. */
export const reportWarningAt = (
  findings: Findings,
  steps: readonly (string | number)[],
  message: string,
): void => {
  keep(findings.warnings, [...findings.path, ...steps], message);
};

/** Counts one visited value. Returns false if the object is too large to continue, which is reported once. */
export function takeValue(findings: Findings): boolean {
  if (findings.valuesLeft > 0) {
    findings.valuesLeft--;
    return true;
  }
  if (findings.valuesLeft === 0) {
    findings.valuesLeft = -1;
    findings.errors.push({ path: "", message: `the object has more than ${maxValues} values` });
  }
  return false;
}

function keep(
  list: SchemaProblem[],
  path: readonly (string | number)[],
  message: string,
  more: Pick<SchemaProblem, "isMisspelt"> = {},
): void {
  if (list.length < maxFindings) list.push({ path: formatPath(path), message, ...more });
  else if (list.length === maxFindings)
    list.push({ path: "", message: "more problems follow that are not listed" });
}

/**
 * Formats a path as `spec.rules[0].host`; a key that is not an identifier is written as `metadata.annotations["a/b"]`.
 */
export function formatPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z$_][\w$-]*$/.test(step) && step.length <= 80) text += text === "" ? step : `.${step}`;
    else text += `[${describeKey(step)}]`;
  }
  return text;
}

/** Formats a key for a path, as JSON. A long key is cut at its end, so that its beginning can be searched for. */
const describeKey = (key: string): string =>
  key.length > maxShown
    ? `${JSON.stringify(key.slice(0, maxShown))}... (${key.length} characters)`
    : JSON.stringify(key);

const maxShown = 80;

/**
 * Formats a value for a message: scalars as JSON, long texts shortened to their significant part, other values by type.
 */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case "string": {
      const { text, isWhole } = clipText(value, maxShown);
      return isWhole ? JSON.stringify(text) : `${JSON.stringify(text)} (${value.length} characters)`;
    }
    case "number":
    case "boolean":
      return String(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "a list" : "an object";
    case "undefined":
      return "nothing";
    default:
      return `a ${typeof value}`;
  }
}

/** Whether a value is an object of JSON or YAML, and not a list or a class instance such as a Date. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Sets an own property, even one named `__proto__`, for which an assignment would set the prototype. */
export function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
