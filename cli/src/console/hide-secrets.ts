import { loggable, redacted } from "@svc-gateway/common/telemetry/redaction.ts";

/**
 * Settings of filters without texts that are secret by their name or shape. Of a pair of name and value, such as a header that is
 * set, the value is hidden by the name.
 */
export function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (typeof value === "string") return loggable("", value);
  if (typeof value !== "object" || value === null) return value;
  const { name } = value as { readonly name?: unknown };
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const known = key === "value" && typeof name === "string" ? name : key;
      // Switches such as `allowCredentials` hold no secret.
      const isHidden = typeof one !== "boolean" && loggable(known, "") === redacted;
      return [key, isHidden ? redacted : hideSecrets(one)];
    }),
  );
}
