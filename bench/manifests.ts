/** Objects of the namespace of a bench. */
export const namespace = "bench";

/** A Service with one endpoint, which is a port of this machine. */
export function service(name: string, port: number, appProtocol?: string): readonly object[] {
  const own = { name: "main", ...(appProtocol !== undefined && { appProtocol }) };
  return [
    object("v1", "Service", name, {
      spec: { clusterIP: "None", ports: [{ ...own, port: 80, targetPort: port }] },
    }),
    object("discovery.k8s.io/v1", "EndpointSlice", `${name}-1`, {
      labels: { "kubernetes.io/service-name": name },
      addressType: "IPv4",
      ports: [{ ...own, port, protocol: "TCP" }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    }),
  ];
}

/** The fields of an object other than its type and name. */
type Parts = { readonly labels?: object; readonly annotations?: object } & Readonly<Record<string, unknown>>;

export const object = (
  apiVersion: string,
  kind: string,
  name: string,
  { labels, annotations, ...rest }: Parts,
): object => ({
  apiVersion,
  kind,
  metadata: { name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) },
  ...rest,
});
