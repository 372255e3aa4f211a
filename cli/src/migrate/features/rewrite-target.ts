/** Writes the path and host of the upstream request. */
import { hasGroupReference } from "@svc-gateway/common/features/rewrite-target.ts";
import { noteIf, type FeatureWriter, type Note } from "../written.ts";

export const writeRewriteTarget: FeatureWriter<"rewrite-target"> = ({ path, hostname, forwardedPrefix }) => {
  const hasGroups = forwardedPrefix !== undefined && hasGroupReference(forwardedPrefix);
  const prefix = hasGroups ? undefined : forwardedPrefix;
  // Header fields are equivalent unless they contain a group of the path.
  const fields = [
    ...(hostname === undefined ? [] : [`Host: ${hostname}`]),
    ...(prefix === undefined ? [] : [`X-Forwarded-Prefix: ${prefix}`]),
  ];
  const text = "It is set by request-header-set";
  const notes: readonly Note[] = [
    ...noteIf(hostname !== undefined, "rewrite-target.hostname", "changed", text),
    ...noteIf(prefix !== undefined, "rewrite-target.forwardedPrefix", "changed", text),
    ...noteIf(fields.length > 0, "request-headers", "changed", text),
    ...noteIf(
      hasGroups,
      "rewrite-target.forwardedPrefix",
      "lost",
      "X-Forwarded-Prefix cannot be set with groups of the path",
    ),
  ];
  const ofFields = fields.length === 0 ? {} : { "request-header-set": fields.join("\n") };
  if (path === undefined) return { annotations: ofFields, notes };
  if (path.type === "prefix" || path.type === "replace") {
    const why = "A new path that replaces a part of the old one cannot be written";
    return {
      annotations: ofFields,
      notes: [...notes, { property: "features.rewrite-target.path", loss: "lost", text: why }],
    };
  }
  return {
    annotations: { "rewrite-target": path.value, ...ofFields },
    notes: [
      ...notes,
      ...noteIf(
        path.type === "expand" && path.matchPath !== undefined,
        "rewrite-target.path.matchPath",
        "changed",
        "Groups are taken of the path as the client wrote it instead of the decoded path",
      ),
      ...noteIf(
        path.type === "expand",
        "rewrite-target.path.pattern",
        "changed",
        "The regular expression is found anywhere in the path and compared with case",
      ),
    ],
  };
};
