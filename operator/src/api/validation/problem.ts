/** How validation names what it found: where, what was expected, what was there. */

import { clipText } from "@svc-gateway/common/values/clip.ts";

/** One finding about an object. `path` is dotted, with list positions in brackets: "spec.rules[0].http.paths". */
export type SchemaProblem = {
  readonly path: string;
  readonly message: string;
  /** Of a warning: something of the object is not used as it was meant. */
  readonly isMisspelt?: true;
};

/** Where findings go while one object is walked. `path` is the current place and is pushed and popped. */
export type Findings = {
  readonly path: (string | number)[];
  readonly errors: SchemaProblem[];
  readonly warnings: SchemaProblem[];
  /** Values that may still be visited; at 0 the walk ends. */
  valuesLeft: number;
};

/** Findings kept of one kind (errors or warnings) for one object; the last says how many more there are not. */
const maxFindings = 50;

/** Values of one object: the 3 MiB that the API server accepts in a request cannot hold more fields of use. */
const maxValues = 300_000;

export const createFindings = (): Findings => ({ path: [], errors: [], warnings: [], valuesLeft: maxValues });

export const reportError = (findings: Findings, message: string): void => {
  keep(findings.errors, findings.path, message);
};

export const reportWarning = (findings: Findings, message: string): void => {
  keep(findings.warnings, findings.path, message);
};

/** Reports a field that is left out, although another one was clearly meant. */
export const reportMisspelt = (findings: Findings, message: string): void => {
  keep(findings.warnings, findings.path, message, { isMisspelt: true });
};

/** Reports an error at a place below the current one. */
export const reportErrorAt = (
  findings: Findings,
  steps: readonly (string | number)[],
  message: string,
): void => {
  keep(findings.errors, [...findings.path, ...steps], message);
};

/** Counts one visited value; false when the object is too large to go on, which is reported once. */
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

/** `spec.rules[0].host`; a key that is no identifier is written `metadata.annotations["a/b"]`. */
export function formatPath(path: readonly (string | number)[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/^[A-Za-z$_][\w$-]*$/.test(step) && step.length <= 80) text += text === "" ? step : `.${step}`;
    else text += `[${describeKey(step)}]`;
  }
  return text;
}

/** A key as paths show it: JSON, of which a long one is cut at its end, so that it can be found by its beginning. */
const describeKey = (key: string): string =>
  key.length > maxShown
    ? `${JSON.stringify(key.slice(0, maxShown))}... (${key.length} characters)`
    : JSON.stringify(key);

const maxShown = 80;

/** A value as messages show it: JSON for scalars, of a long text what matters; otherwise what it is. */
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

/** True for what JSON or YAML calls an object: no list, no class instance such as a Date. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Sets an own property, also where the name is `__proto__`, which assignment would take for the prototype. */
export function setOwn(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
