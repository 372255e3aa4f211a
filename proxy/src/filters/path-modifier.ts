import type { PathModifier } from "@svc-gateway/common/features/path-modifier.ts";

/**
 * Compiles the change of a normalised path that the match of the route has accepted. Replacing a prefix keeps the rest
 * of the path, with one slash between the two (Gateway API, HTTPPathModifier.replacePrefixMatch).
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
