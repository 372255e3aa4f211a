/** Describes objects for a bundle: their structure, numbers and switches, and the texts that cannot be secrets. */
import { Buffer } from "node:buffer";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { cleanTexts } from "./clean-texts.ts";
import { holdsSettings, isPlainSetting, isPlainValue, ruleOf } from "./kept-texts.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

/** More than the nesting of any object. */
const maxDepth = 40;

/**
 * Describes an object. Data of Secrets and ConfigMaps is replaced by its size. Texts in fields that are not known to be
 * harmless are replaced by their length, and so are annotations unless they are switches or quantities. Messages of
 * conditions are not cleaned here, but by `cleanMessages`, when all withheld texts are known.
 */
export function describeObject(object: KubeObject, withheld: WithheldTexts): KubeObject {
  const { apiVersion, kind, metadata, ...body } = object;
  const {
    annotations = {},
    labels,
    name,
    namespace,
    generation,
    creationTimestamp,
    deletionTimestamp,
  } = metadata;
  const described = {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels: describe(labels, "labels", "metadata", withheld) }),
      ...(Object.keys(annotations).length > 0 && { annotations: describeSettings(annotations, withheld) }),
      ...(generation !== undefined && { generation }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    ...Object.fromEntries(
      Object.entries(body).map(([key, value]) => [
        key,
        dataFields.has(key)
          ? describeData(value, kind === "Secret" && key === "data", withheld)
          : describe(value, key, "", withheld),
      ]),
    ),
  };
  for (const text of [name, namespace ?? ""]) withheld.keep(text);
  return described as KubeObject;
}

const dataFields: ReadonlySet<string> = new Set(["data", "stringData", "binaryData"]);

/** Replaces values by their sizes. */
function describeData(data: unknown, isBase64: boolean, withheld: WithheldTexts): unknown {
  if (typeof data !== "object" || data === null) return undefined;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => {
      const text = String(value);
      // Logs can quote either form.
      if (isBase64) withheld.withhold(Buffer.from(text, "base64").toString("utf8"));
      return [key, withheld.withhold(text)];
    }),
  );
}

const describeSettings = (
  settings: Readonly<Record<string, unknown>>,
  withheld: WithheldTexts,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const text = String(value);
      return [name, isPlainSetting(name, text) ? text : withheld.withhold(text)];
    }),
  );

function describe(value: unknown, key: string, parent: string, withheld: WithheldTexts, depth = 0): unknown {
  if (typeof value === "string") return describeText(value, key, parent, withheld);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= maxDepth) return "[nested too deep]";
  if (Array.isArray(value)) return value.map((item) => describe(item, key, parent, withheld, depth + 1));
  // Annotations also occur below the top level, such as in options of routes and in pod templates.
  if (holdsSettings(key)) return describeSettings(value as Record<string, unknown>, withheld);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, describe(one, name, key, withheld, depth + 1)]),
  );
}

function describeText(text: string, key: string, parent: string, withheld: WithheldTexts): string {
  switch (ruleOf(key, parent)) {
    case "kept":
      withheld.keep(text);
      return text;
    case "message":
      return text;
    case "path":
      return beforeQuery(text, withheld);
    case "url":
      return originOf(text, withheld);
    case "plain":
      return isPlainValue(text) ? text : withheld.withhold(text);
    case "withheld":
      return withheld.withhold(text);
  }
}

function beforeQuery(path: string, withheld: WithheldTexts): string {
  const at = path.search(/[?#]/);
  const known = at === -1 ? path : path.slice(0, at);
  withheld.keep(known);
  return at === -1 ? path : `${known}?${withheld.withhold(path.slice(at + 1))}`;
}

/** Reduces a URL to its origin, without credentials, path and query. */
export function originOf(text: string, withheld: WithheldTexts): string {
  const { origin, host = "" } = URL.canParse(text) ? new URL(text) : {};
  // Only http, https and similar URLs have an origin.
  if (origin === undefined || origin === "null") return withheld.withhold(text);
  withheld.keep(host);
  const isWhole = text === origin || text === `${origin}/`;
  return isWhole ? text : `${origin}/${withheld.withhold(text)}`;
}

/** Removes withheld texts from the messages of conditions in a described value. */
export const cleanMessages = (value: unknown, withheld: WithheldTexts): unknown =>
  cleanTexts(value, withheld, (field) => field === "message");
