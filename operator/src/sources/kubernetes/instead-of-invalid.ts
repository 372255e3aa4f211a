/**
 * What is used in place of an invalid object that the API server has, such as one that was written before the schema of its kind
 * was made stricter: the same as in files (docs/policy-status.md, "Policies that are not valid").
 */
import type { KubeObject } from "../../api/object.ts";
import { createStandIn, isStandIn, keepInstead } from "../../api/stand-in.ts";
import type { InvalidObject } from "../../api/validate.ts";
import { readStandIn } from "../read-stand-in.ts";

/**
 * The last valid version of the object, else a stand-in. Undefined where nothing changes: objects of kinds without stand-ins are
 * not used, or stay as they were.
 */
export function instead(
  declared: KubeObject,
  error: InvalidObject,
  before: KubeObject | undefined,
): KubeObject | undefined {
  const source = readStandIn(declared);
  if (source?.name === undefined) return undefined;
  const { name } = source;
  const problems = describeInvalid(error);
  const isKept = before !== undefined && !isStandIn(before) && before.metadata.uid === declared.metadata.uid;
  return isKept
    ? keepInstead(before, { problems, generation: declared.metadata.generation })
    : createStandIn({ ...source, name, problems });
}

/** One sentence for each problem of an invalid object. */
export const describeInvalid = (error: InvalidObject): readonly string[] =>
  error.reason === "unknown-kind"
    ? [`unknown kind ${error.kind}`]
    : error.problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
