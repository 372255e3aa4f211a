/** Settings of the ConfigMap for all routes. See docs/ingress-nginx.md, "ConfigMap". */
import type { Group } from "./group.ts";

/** The first group: what annotations say is joined to it. */
export const config: Group = (_, { nginx }) => {
  const { features, keys } = nginx.config;
  return {
    features,
    ...(keys.disableAccessLog && { route: (route) => ({ ...route, accessLog: false }) }),
  };
};
