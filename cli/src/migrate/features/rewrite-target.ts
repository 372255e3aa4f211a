/** The path and host of the upstream request. */
import { noteIf, type FeatureWriter, type Note } from "../written.ts";

export const writeRewriteTarget: FeatureWriter<"rewrite-target"> = ({ path, hostname, forwardedPrefix }) => {
  const notes: readonly Note[] = [
    ...noteIf(
      hostname !== undefined,
      "rewrite-target.hostname",
      "lost",
      "The Host of the upstream request cannot be replaced beside a new path",
    ),
    ...noteIf(
      forwardedPrefix !== undefined,
      "rewrite-target.forwardedPrefix",
      "lost",
      "X-Forwarded-Prefix cannot be set",
    ),
  ];
  if (path === undefined) return { notes };
  if (path.type === "prefix" || path.type === "replace") {
    const text = "A new path that replaces a part of the old one cannot be written";
    return { notes: [...notes, { property: "features.rewrite-target.path", loss: "lost", text }] };
  }
  return {
    annotations: { "rewrite-target": path.value },
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
