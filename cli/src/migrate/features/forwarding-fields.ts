/** Writes the additional fields about the client that backends get. */
import { noteIf, type FeatureWriter } from "../written.ts";

export const writeForwardingFields: FeatureWriter<"forwarding-fields"> = (value) => {
  const { original, names } = value;
  const words: readonly (readonly [string, boolean])[] = [
    ["request-id", value.requestId === true],
    ["scheme", value.scheme === true],
    ["original", original === "x-forwarded-for"],
    ["original-uri", value.originalUri === true],
    ["client-only", value.clientOnly === true],
    ["client-certificate", value.clientCertificate === true],
    ["without-via", value.withoutVia === true],
    ["plain-names", names === "plain"],
  ];
  const said = words.filter(([, isOn]) => isOn).map(([word]) => word);
  return {
    ...(said.length > 0 && { annotations: { "forwarding-fields": said.join(",") } }),
    notes: [
      ...noteIf(
        original !== undefined && original !== "x-forwarded-for",
        "forwarding-fields.original",
        "lost",
        `X-Original-Forwarded-For cannot be taken of ${original}`,
      ),
      ...noteIf(
        names === "underscores",
        "forwarding-fields.names",
        "changed",
        "Fields with unusual characters in their names are passed on",
      ),
    ],
  };
};
