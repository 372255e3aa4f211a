/**
 * Tests that can fail on a busy machine without a fault of the gateway: they compare shares of traffic with
 * probabilities, or durations with limits. `SELECTION=steady` skips them.
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
