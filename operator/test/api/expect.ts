import { expect } from "chai";
import type { KnownObject } from "../../src/api/kinds.ts";
import { validateObject } from "../../src/api/validate.ts";

/** The object of a manifest that must be valid. */
export function accepted(manifest: unknown): KnownObject {
  const result = validateObject(manifest);
  if (!result.ok) expect.fail(`refused: ${JSON.stringify(result.error)}`);
  return result.value.object;
}

/** Warnings of a manifest that must be valid, as "path: message". */
export function warningsOf(manifest: unknown): readonly string[] {
  const result = validateObject(manifest);
  if (!result.ok) expect.fail(`refused: ${JSON.stringify(result.error)}`);
  return result.value.warnings.map(({ path, message }) => `${path}: ${message}`);
}

/** Problems of a manifest that must be refused, as "path: message". */
export function problemsOf(manifest: unknown): readonly string[] {
  const result = validateObject(manifest);
  if (result.ok) expect.fail(`accepted: ${JSON.stringify(result.value.object)}`);
  if (result.error.reason !== "invalid") expect.fail(`unknown kind: ${JSON.stringify(result.error)}`);
  return result.error.problems.map(({ path, message }) => `${path}: ${message}`);
}
