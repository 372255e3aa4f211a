import { ask } from "./api.ts";
import { gatewayApi } from "./gateway-api.ts";
import { until } from "./until.ts";

export type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly observedGeneration?: number;
};

export type GatewayObject = {
  readonly metadata: { readonly generation: number };
  readonly status?: {
    readonly addresses?: readonly { readonly value: string }[];
    readonly conditions?: readonly Condition[];
    readonly listeners?: readonly {
      readonly name: string;
      readonly attachedRoutes: number;
      readonly conditions: readonly Condition[];
    }[];
  };
};

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((one) => one.type === type && one.status === "True") === true;

export const gatewayAt = (namespace: string, name: string): Promise<GatewayObject> =>
  ask(`/apis/${gatewayApi}/namespaces/${namespace}/gateways/${name}`);

/** Waits until a Gateway is programmed for its present generation, and returns its address. */
export async function programmedAddress(namespace: string, name: string): Promise<string> {
  const { value } = await until(`Gateway ${name} to be programmed`, async () => {
    const { metadata, status } = await gatewayAt(namespace, name);
    const conditions = status?.conditions?.filter(
      ({ observedGeneration }) => observedGeneration === metadata.generation,
    );
    return isTrue(conditions, "Programmed") && status?.addresses?.[0]?.value;
  });
  return value;
}
