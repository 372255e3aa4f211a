import type { KubeObject } from "../api/object.ts";
import type { ApiClient } from "../sources/kubernetes/api-client.ts";
import type { ObjectEvent } from "../write/event-object.ts";

export type OwnPodOptions = {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly name: string;
  readonly signal: AbortSignal;
};

/**
 * The pod of this process as Events name it. Its uid, by which tools find the Events of an object, is requested on
 * first use; until that succeeds, the pod is named without it.
 */
export function createOwnPod({
  client,
  namespace,
  name,
  signal,
}: OwnPodOptions): () => Promise<ObjectEvent["regarding"]> {
  const nameOnly = { apiVersion: "v1", kind: "Pod", namespace, name };
  let known: Promise<ObjectEvent["regarding"]> | undefined;
  const ask = async (): Promise<ObjectEvent["regarding"]> => {
    const found = await client.call<KubeObject>(`/api/v1/namespaces/${namespace}/pods/${name}`, { signal });
    const uid = found.ok ? found.value.metadata.uid : undefined;
    if (uid === undefined) known = undefined;
    return uid === undefined ? nameOnly : { ...nameOnly, uid };
  };
  return () => (known ??= ask());
}
