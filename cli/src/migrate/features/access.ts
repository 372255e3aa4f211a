/** Writes access rules: addresses, passwords, and pages of other origins. */
import { maxDurationMs } from "@svc-gateway/common/values/duration.ts";
import { noteIf, policy, unsayable, type FeatureWriter } from "../written.ts";
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

export const writeCors: FeatureWriter<"cors"> = (value) => {
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, allowCredentials, maxAgeSeconds } = value;
  const list = (name: string, items: readonly string[]): Record<string, string> =>
    items.length === 0 ? {} : { [name]: items.join(", ") };
  return {
    annotations: {
      ...list("cors-allow-origins", allowOrigins),
      ...list("cors-allow-methods", allowMethods),
      ...list("cors-allow-headers", allowHeaders),
      ...list("cors-expose-headers", exposeHeaders),
      ...(allowCredentials && { "cors-allow-credentials": "true" }),
      "cors-max-age": durationText(Math.min(maxAgeSeconds * 1000, maxDurationMs)),
    },
    notes: [
      ...["allowMethods", "allowHeaders", "exposeHeaders"].flatMap((name) =>
        noteIf(
          true,
          `cors.${name}`,
          "changed",
          "Lists are sent without duplicates and with a blank after each comma",
        ),
      ),
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
