/** Writes closed paths. */
import type { ClosedPath } from "@svc-gateway/common/features/closed-paths.ts";
import { noteIf, unsayable, type FeatureWriter } from "../written.ts";

const marks: Readonly<Record<ClosedPath["type"], string>> = { exact: "= ", beginning: "", regex: "~ " };

/** The maximum number of paths in one annotation. */
const maxPaths = 64;

export const writeClosedPaths: FeatureWriter<"closed-paths"> = ({ paths, statusCode }) => {
  const isSayable = ({ type, value }: ClosedPath): boolean =>
    type === "regex" ? !/[\r\n]/.test(value) : /^\/[^\s?#]*$/.test(value);
  if (paths.length > maxPaths || !paths.every(isSayable)) {
    return unsayable("closed-paths", "The closed paths cannot be written one per line", "closes");
  }
  return {
    annotations: { "closed-paths": paths.map(({ type, value }) => `${marks[type]}${value}`).join("\n") },
    notes: noteIf(
      statusCode !== 403,
      "closed-paths.statusCode",
      "changed",
      `Closed paths are answered 403 instead of ${statusCode}`,
    ),
  };
};
