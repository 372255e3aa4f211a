/** Objects of the Gateway API, as small as possible. */
import { find } from "./api.ts";
import { noteFilters } from "./covers.ts";

export const gatewayApi = "gateway.networking.k8s.io/v1";

/**
 * Skips a test, or in a hook all tests that follow, unless the cluster has the kinds and the installation has its
 * class.
 */
export async function needGatewayApi(context: Mocha.Context): Promise<void> {
  if ((await find(`/apis/${gatewayApi}/gatewayclasses/svc`)) === undefined) context.skip();
}

export const httpListener = (name = "http", port = 80): object => ({ name, port, protocol: "HTTP" });

/** A Gateway with one HTTP listener on port 80, unless `spec` overrides it. */
export const gateway = (name: string, spec: object = {}): object => ({
  apiVersion: gatewayApi,
  kind: "Gateway",
  metadata: { name },
  spec: { gatewayClassName: "svc", listeners: [httpListener()], ...spec },
});

/** The `backendRefs` of a rule that sends everything to one Service. */
export const to = (name: string, port = 80): readonly object[] => [{ name, port }];

/** An HTTPRoute of a Gateway that sends everything to the Service `echo`, unless `spec` overrides it. */
export const httpRoute = (name: string, parent: string, spec: object = {}): object =>
  route("HTTPRoute", name, { parentRefs: [{ name: parent }], ...spec });

/** A route of any kind that sends everything to the Service `echo`, unless `spec` overrides it. */
export function route(kind: string, name: string, spec: object): object {
  noteFilters(spec);
  return {
    apiVersion: gatewayApi,
    kind,
    metadata: { name },
    spec: { rules: [{ backendRefs: to("echo") }], ...spec },
  };
}
