/** Suggestions for names that are not annotations of ingress-nginx. */
import { similarAnnotation } from "./annotations/index.ts";
import { configKeyNames } from "./config-keys.ts";

const configKeys: ReadonlySet<string> = new Set(configKeyNames);

/**
 * Returns the probable intention of the author. A key of the ConfigMap, such as `hsts`, is often tried as an
 * annotation; a similar annotation is then no help.
 */
export const meantBy = (
  name: string,
): { readonly similar: string | undefined; readonly isConfigKey: boolean } => ({
  similar: similarAnnotation(name),
  isConfigKey: configKeys.has(name),
});
