/** Writes changes of header fields. */
import type { HeaderField, HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import type { Replacement } from "@svc-gateway/common/features/response-headers.ts";
import { noteIf, type FeatureWriter, type Written } from "../written.ts";

const linesOf = (fields: readonly HeaderField[]): string =>
  fields.map(({ name, value }) => `${name}: ${Buffer.from(value, "latin1").toString("utf8")}`).join("\n");

function modifierOf(direction: "request" | "response", { set, add, remove }: HeaderModifier): Written {
  return {
    annotations: {
      ...(set !== undefined && set.length > 0 && { [`${direction}-header-set`]: linesOf(set) }),
      ...(add !== undefined && add.length > 0 && { [`${direction}-header-add`]: linesOf(add) }),
      ...(remove !== undefined && remove.length > 0 && { [`${direction}-header-remove`]: remove.join(", ") }),
    },
  };
}

export const writeRequestHeaders: FeatureWriter<"request-headers"> = ({ templates, ...modifier }) => ({
  ...modifierOf("request", modifier),
  notes: noteIf(
    templates !== undefined,
    "request-headers.templates",
    "lost",
    `A value that each request fills in cannot be written (${(templates ?? []).map(({ name }) => name).join(", ")})`,
  ),
});

export const writeResponseHeaders: FeatureWriter<"response-headers"> = (value) => {
  const { setOverTls = [], requestId, cookieDomain, cookiePath, location, set = [], ...modifier } = value;
  const replacements: readonly (readonly [string, Replacement | undefined])[] = [
    ["response-cookie-domain", cookieDomain],
    ["response-cookie-path", cookiePath],
    ["response-location", location],
  ];
  return {
    annotations: {
      ...modifierOf("response", { ...modifier, set }).annotations,
      ...(requestId !== undefined && { "response-header-request-id": requestId }),
      ...(setOverTls.length > 0 && { "response-header-set-tls": linesOf(setOverTls) }),
      ...Object.fromEntries(
        replacements.flatMap(([name, found]) =>
          found === undefined ? [] : [[name, `${found.from} ${found.to}`]],
        ),
      ),
    },
  };
};
