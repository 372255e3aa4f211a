/** Changes of header fields. */
import type { HeaderField, HeaderModifier } from "@svc-gateway/common/features/header-modifier.ts";
import { noteIf, type FeatureWriter, type Note, type Written } from "../written.ts";

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
  const { setOverTls = [], cookieDomain, cookiePath, location, set = [], ...modifier } = value;
  const rewritten: readonly (readonly [string, unknown, string])[] = [
    ["cookieDomain", cookieDomain, "The domain of cookies of the backend cannot be replaced"],
    ["cookiePath", cookiePath, "The path of cookies of the backend cannot be replaced"],
    ["location", location, "The beginning of redirects of the backend cannot be replaced"],
  ];
  return {
    // Browsers ignore Strict-Transport-Security on responses without TLS (RFC 6797, 8.1).
    ...modifierOf("response", { ...modifier, set: [...set, ...setOverTls] }),
    notes: [
      ...overTlsNotes(setOverTls),
      ...rewritten.flatMap(([name, found, text]) =>
        noteIf(found !== undefined, `response-headers.${name}`, "lost", text),
      ),
    ],
  };
};

const overTlsNotes = (fields: readonly HeaderField[]): readonly Note[] => {
  const text = `Responses without TLS have ${fields.map(({ name }) => name).join(", ")} as well, which browsers ignore there`;
  const differs = fields.length > 0;
  return [
    ...noteIf(differs, "response-headers.setOverTls", "changed", text),
    ...noteIf(differs, "response-headers.set", "changed", text),
  ];
};
