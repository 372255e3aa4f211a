import { loggable, redacted } from "@svc-gateway/common/telemetry/redaction.ts";

/**
 * Copies settings of filters and hides texts that are secret by their name or shape. In a pair of `name` and `value`,
 * such as a header, the name decides whether the value is hidden.
 */
export function hideSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideSecrets);
  if (typeof value === "string") return loggable("", value);
  if (typeof value !== "object" || value === null) return value;
  const { name } = value as { readonly name?: unknown };
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const known = key === "value" && typeof name === "string" ? name : key;
      // Booleans such as `allowCredentials` are not secrets.
      const isHidden = typeof one !== "boolean" && loggable(known, "") === redacted;
      return [key, isHidden ? redacted : hideSecrets(one)];
    }),
  );
}
