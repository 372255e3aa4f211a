/**
 * The place of a finding, and the function that defines one. The other files of this folder have one constructor
 * for each finding, which alone determines its severity and reason. docs/reference/events.md lists them.
 */
import type { Problem } from "@svc-gateway/common/values/result.ts";
import type { ObjectRef } from "../../api/object.ts";
import type { Diagnostic } from "../finding.ts";
import { oneLine } from "../text.ts";

/** The place of a finding: the object, and the path of the field in it. */
export type Place = { readonly object: ObjectRef; readonly field?: string };

/** The path of an entry of a map such as annotations. A very long key is truncated. */
export const keyField = (map: string, key: string): string => `${map}[${oneLine(key.slice(0, 128))}]`;

/** Defines the findings of one reason. */
export const finding =
  (severity: Diagnostic["severity"], reason: string) =>
  (place: Place, message: string): Diagnostic => ({ ...place, severity, reason, message: oneLine(message) });

/**
 * The same finding as an error for `check`, because objects that are missing among manifests will not be
 * created later.
 */
export const errorAmongManifests = (diagnostic: Diagnostic): Diagnostic => ({
  ...diagnostic,
  amongManifests: "error",
});

/** Formats a problem as "wrong, expected a right one", if the problem has an expectation. */
export const describeProblem = ({ message, expected }: Problem): string =>
  expected === undefined ? message : `${message}, expected ${expected}`;

/**
 * Defines the findings of one reason about values that do not parse. `consequence` describes what happens instead.
 */
export const failed =
  (severity: Diagnostic["severity"], reason: string, consequence: string) =>
  (place: Place, problem: Problem): Diagnostic =>
    finding(severity, reason)(place, `${describeProblem(problem)}; ${consequence}`);
