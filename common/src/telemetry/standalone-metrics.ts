import { controllerMetrics } from "./metric-declarations.ts";

const { keySetFetches, keySetFetchDuration, keySetsFailing, unprotectedPaths, keptCertificates } =
  controllerMetrics;

/** The metrics of the controller that standalone mode also has. */
export const standaloneMetrics = {
  keySetFetches,
  keySetFetchDuration,
  keySetsFailing,
  unprotectedPaths,
  keptCertificates,
} as const;
