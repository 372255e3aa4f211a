/** What authors may have meant by names that are no annotations of ingress-nginx. */
import { similarAnnotation } from "./annotations/index.ts";
import { configKeyNames } from "./config-keys.ts";

const configKeys: ReadonlySet<string> = new Set(configKeyNames);

/** A name of the ConfigMap, such as `hsts`, is often tried as an annotation; a similar annotation is then no help. */
export const meantBy = (
  name: string,
): { readonly similar: string | undefined; readonly isConfigKey: boolean } => ({
  similar: similarAnnotation(name),
  isConfigKey: configKeys.has(name),
});
