/**
 * Replaces invalid objects of the API server, such as those written before the schema of their kind was made stricter,
 * as for files (docs/policy-status.md, "Policies that are not valid").
 */
import type { KubeObject } from "../../api/object.ts";
import { createStandIn, isStandIn, keepInstead } from "../../api/stand-in.ts";
import type { InvalidObject } from "../../api/validate.ts";
import { readStandIn } from "../read-stand-in.ts";

/**
 * Returns the last valid version of the object, or else a stand-in; undefined for kinds without stand-ins, whose
 * invalid objects are not used, or stay in their last valid version.
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
