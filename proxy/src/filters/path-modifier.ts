import type { PathModifier } from "@svc-gateway/common/features/path-modifier.ts";

/**
 * Changes a normalised path that the route's match has accepted. Replacing a prefix leaves what
 * follows it, with one slash between the two (Gateway API, HTTPPathModifier.replacePrefixMatch).
 */
export function compilePathModifier(modifier: PathModifier): (path: string) => string {
  const { value } = modifier;
  if (modifier.type === "full") return () => value;
  const { length } = modifier.prefix;
  return (path) => {
    const rest = path.slice(length);
    return value === "" && rest === "" ? "/" : `${value}${rest}`;
  };
}
