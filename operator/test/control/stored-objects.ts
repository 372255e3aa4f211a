/** Objects of any kind in the namespace `ns` of a fake cluster. */
import { definitionOf, type KindName } from "../../src/api/kinds.ts";
import type { FakeCluster } from "../sources/kubernetes/fake-cluster.ts";

export const pathOf = (kind: KindName): string => {
  const { group, versions, plural } = definitionOf(kind);
  return group === "" ? `/api/v1/${plural}` : `/apis/${group}/${versions[0]}/${plural}`;
};

const apiVersionOf = (kind: KindName): string => {
  const { group, versions } = definitionOf(kind);
  return group === "" ? "v1" : `${group}/${versions[0]}`;
};

/** Creates an object, or replaces its spec; a status is kept unless another one is given. */
export const put = (
  cluster: FakeCluster,
  kind: KindName,
  name: string,
  spec: object,
  status?: object,
): void => {
  const before = cluster.get(pathOf(kind), `ns/${name}`);
  cluster.put(pathOf(kind), {
    ...before,
    apiVersion: apiVersionOf(kind),
    kind,
    metadata: {
      ...before?.metadata,
      name,
      namespace: "ns",
      generation: before === undefined ? 1 : 2,
    },
    spec,
    ...(status !== undefined && { status }),
  });
};

export const controllerName = "svc-labs.dev/gateway-controller";

/** Creates the GatewayClass `svc` of the controller. */
export const putClass = (cluster: FakeCluster): void => {
  cluster.put(pathOf("GatewayClass"), {
    apiVersion: apiVersionOf("GatewayClass"),
    kind: "GatewayClass",
    metadata: { name: "svc" },
    spec: { controllerName },
  });
};
