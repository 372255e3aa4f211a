/** Writes access rules: addresses, passwords, and pages of other origins. */
import { isDeepStrictEqual } from "node:util";
import { cors } from "@svc-gateway/common/features/cors.ts";
import { shown } from "@svc-gateway/common/values/clip.ts";
import { maxDurationMs } from "@svc-gateway/common/values/duration.ts";
import { splitCsv } from "@svc-gateway/common/values/list.ts";
import { noteIf, policy, unsayable, type FeatureWriter, type Written } from "../written.ts";
import { durationText } from "./limits.ts";

export const writeIpAccessControl: FeatureWriter<"ip-access-control"> = (
  { allow, blocked = [], deny: denied, unavailable },
  { define, namespace, route },
) => {
  // An empty list in an IpAccessControl admits every client, so it cannot express this.
  if (unavailable === true || allow?.length === 0) {
    return unsayable("ip-access-control", "No client is let in, which address rules cannot say", "closes");
  }
  if (blocked.length > 0 && route.features?.satisfy === "any") {
    const text = "With satisfy: any, address rules cannot reject clients that authenticate";
    return unsayable("ip-access-control", text, "closes");
  }
  const deny = [...blocked, ...denied];
  const spec = { ...(deny.length > 0 && { deny }), ...(allow !== undefined && { allow }) };
  return {
    annotations: { "ip-access-control": `${namespace}/${define(policy("IpAccessControl", spec))}` },
  };
};

export const writeAuthBasicSecret: FeatureWriter<"auth-basic-secret"> = (lists) => {
  const [first, ...others] = lists;
  const [, namespace, name, form] = /^([^/]+)\/([^/]+)(?:\/(.+))?$/.exec(first?.htpasswd ?? "") ?? [];
  if (namespace === undefined || name === undefined || others.length > 0) {
    return unsayable("auth-basic-secret", "The users cannot be read", "closes");
  }
  if (form === "auth-map") {
    const text = `Secret ${namespace}/${name} has a key for each user, expected one key auth with lines of htpasswd`;
    return unsayable("auth-basic-secret", text, "closes");
  }
  return {
    annotations: {
      "auth-basic-secret": `${namespace}/${name}`,
      ...(first?.realm !== undefined && first.realm !== "" && { "auth-basic-realm": first.realm }),
      ...(first?.hidesCredentials === true && { "auth-basic-hide-credentials": "true" }),
    },
    notes: [
      ...noteIf(
        true,
        "auth-basic-secret[0].htpasswd",
        "changed",
        `Secret ${namespace}/${name} must have the label ingress.svc-labs.dev/auth-basic: "true", for hashes other than bcrypt and SHA-1 ingress.svc-labs.dev/auth-basic-hashes: "all" as well; passwords in plain text let no user in`,
      ),
      ...noteIf(
        first?.realm === "",
        "auth-basic-secret[0].realm",
        "changed",
        'The realm is "Authentication required" instead of empty',
      ),
    ],
  };
};

/** Writes a list of methods or header names. It is lost if the annotation does not parse to the same items. */
function writeList(
  property: "allowMethods" | "allowHeaders" | "exposeHeaders",
  items: readonly string[],
): Written {
  if (items.length === 0) return {};
  const written = items.join(", ");
  // Browsers compare methods with case, so small letters permit none.
  const text = property === "allowMethods" ? written.toUpperCase() : written;
  const inCapitals = text !== written;
  const { name, parse } = cors.annotations[property];
  const parsed = parse(text, () => undefined);
  const isKept = parsed.ok && isDeepStrictEqual(parsed.value, splitCsv(text));
  return {
    ...(isKept && { annotations: { [name]: text } }),
    notes: isKept
      ? noteIf(
          true,
          `cors.${property}`,
          "changed",
          `Lists are sent without duplicates and with a blank after each comma${inCapitals ? ", methods in capital letters" : ""}`,
        )
      : noteIf(true, `cors.${property}`, "lost", `${name} cannot express ${JSON.stringify(shown(text))}`),
  };
}

export const writeCors: FeatureWriter<"cors"> = (value) => {
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAgeSeconds } = value;
  const lists = [
    writeList("allowMethods", allowMethods),
    writeList("allowHeaders", allowHeaders),
    writeList("exposeHeaders", exposeHeaders),
  ];
  return {
    annotations: {
      ...(allowOrigins.length > 0 && { "cors-allow-origins": allowOrigins.join(", ") }),
      ...Object.assign({}, ...lists.map(({ annotations }) => annotations)),
      ...(allowCredentials && { "cors-allow-credentials": "true" }),
      "cors-max-age": durationText(Math.min(maxAgeSeconds * 1000, maxDurationMs)),
    },
    notes: [
      ...lists.flatMap(({ notes = [] }) => notes),
      ...noteIf(
        maxAgeSeconds * 1000 > maxDurationMs,
        "cors.maxAgeSeconds",
        "changed",
        "Browsers remember preflights for 24 hours, the longest time that can be written",
      ),
      ...noteIf(
        value.onEveryResponse === true,
        "cors.onEveryResponse",
        "changed",
        "Only requests of pages of an allowed origin get CORS fields, as the Fetch standard has it",
      ),
      ...noteIf(
        value.early === true,
        "cors.early",
        "changed",
        "Preflights are answered after address rules and rate limits instead of before them",
      ),
    ],
  };
};
