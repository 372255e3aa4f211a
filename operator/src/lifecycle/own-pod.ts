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
 * Returns the reference to the pod of this process for Events. Its uid, by which tools find the Events of an object, is
 * requested on first use; until that succeeds, the reference has no uid.
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
