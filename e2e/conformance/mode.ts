/** The proxies that serve the Gateways of the suite: the shared ones, or dedicated ones for each Gateway. */
import { kubectl } from "../support/provider.ts";
import { namespace } from "../deploy/release.ts";

export type Mode = "shared" | "dedicated";

export function modeOf(text: string): Mode {
  if (text === "shared" || text === "dedicated") return text;
  throw new Error(`MODE is "${text}", expected shared or dedicated`);
}

const dedicatedClass = "svc-dedicated";

/** Prepares the cluster and returns the GatewayClass for the suite. */
export async function prepareMode(mode: Mode): Promise<string> {
  if (mode === "shared") return "svc";
  const parameters = {
    apiVersion: "gateway.svc-labs.dev/v1alpha1",
    kind: "SvcGatewayParameters",
    metadata: { name: dedicatedClass, namespace },
    spec: {},
  };
  const gatewayClass = {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "GatewayClass",
    metadata: { name: dedicatedClass },
    spec: {
      controllerName: "svc-labs.dev/gateway-controller",
      parametersRef: {
        group: "gateway.svc-labs.dev",
        kind: parameters.kind,
        name: dedicatedClass,
        namespace,
      },
    },
  };
  const list = { apiVersion: "v1", kind: "List", items: [parameters, gatewayClass] };
  await kubectl(["apply", "--filename", "-"], { input: JSON.stringify(list) });
  await kubectl(["wait", "--for=condition=Accepted", `gatewayclass/${dedicatedClass}`, "--timeout=60s"]);
  return dedicatedClass;
}
