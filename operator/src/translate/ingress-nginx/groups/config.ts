/** Settings of the ConfigMap for all routes. See docs/ingress-nginx.md, "ConfigMap". */
import type { Group } from "./group.ts";

/** The first group, to which the features of annotations are joined. */
export const config: Group = (_, { nginx }) => {
  const { features, keys } = nginx.config;
  return {
    features,
    ...((keys.disableAccessLog || keys.disableHttpAccessLog) && {
      route: (route) => ({ ...route, accessLog: false }),
    }),
  };
};
