/**
 * Tests that a machine with other work can fail without the gateway's doing: they compare shares of traffic with what
 * is likely, or how long something took. `SELECTION=steady` leaves them out.
 */
export const unsteadyTests: readonly string[] = [
  "GRPCRouteWeight",
  "HTTPRouteRequestHeaderModifierBackendWeights",
  "HTTPRouteRequestPercentageMirror",
  "HTTPRouteRetryWithBackendTimeout",
  "HTTPRouteRetryWithRequestTimeout",
  "HTTPRouteTimeoutBackendRequest",
  "HTTPRouteTimeoutRequest",
  "HTTPRouteWeight",
  "TCPRouteWeightedRouting",
  "UDPRouteWeightedRouting",
];
