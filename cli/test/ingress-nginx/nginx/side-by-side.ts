/** Serves the same Ingresses by nginx and by this gateway, for effects that a single answer does not show. */
import { withGateway } from "../../standalone/gateway.ts";
import type { Ports } from "../ask.ts";
import type { CorpusObject } from "../cases.ts";
import { clusterObjects, nginxFlags } from "../cluster.ts";
import { nginxConfig } from "./config.ts";
import { noSettings } from "./config-map.ts";
import { withNginx } from "./process.ts";
import { sitesOf } from "./sites.ts";

const namespace = "beside";

/** An Ingress of the host with the Service `app` behind all paths; annotations without the prefix of ingress-nginx. */
export type BesideIngress = {
  readonly host: string;
  readonly annotations: Readonly<Record<string, string>>;
};

const ingressOf = ({ host, annotations }: BesideIngress): CorpusObject => ({
  ...{ apiVersion: "networking.k8s.io/v1" },
  kind: "Ingress",
  metadata: {
    name: host.replaceAll(".", "-"),
    namespace,
    annotations: Object.fromEntries(
      Object.entries(annotations).map(([name, value]) => [`nginx.ingress.kubernetes.io/${name}`, value]),
    ),
  },
  spec: {
    ...{ ingressClassName: "nginx" },
    rules: [
      {
        host,
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "app", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
});

const serviceOf = (name: string, port: number): readonly object[] => [
  {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { ports: [{ name: "http", port: 80 }] },
  },
  {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, namespace, labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    ports: [{ name: "http", port }],
    endpoints: [{ addresses: ["127.0.0.1"] }],
  },
];

/** The ConfigMap with these keys as well. */
const withKeys = (object: object, keys: Readonly<Record<string, string>>): object =>
  "data" in object ? { ...object, data: { ...(object.data as object), ...keys } } : object;

/** Runs the body with nginx, and then with this gateway; `services`: the loopback ports of Services, `keys`: those of the ConfigMap. */
export async function besideNginx<T>(
  ingresses: readonly BesideIngress[],
  services: Readonly<Record<string, number>>,
  body: (ports: Ports) => Promise<T>,
  keys: Readonly<Record<string, string>> = {},
): Promise<{ readonly nginx: T; readonly gateway: T }> {
  const objects = ingresses.map(ingressOf);
  const results: T[] = [];
  const run = async (ports: Ports): Promise<void> => void results.push(await body(ports));
  await withNginx(
    (folder, ports) =>
      nginxConfig(
        sitesOf({ objects }),
        {
          ...{ ...ports, folder },
          addressOf: (_, service) => `127.0.0.1:${services[service] ?? 1}`,
          certificateOf: () => undefined,
          usersOf: () => "",
          authorityOf: () => "",
        },
        { ...noSettings, keys },
      ),
    run,
  );
  const items = [
    ...clusterObjects.map((one) => withKeys(one, keys)),
    ...objects,
    ...Object.entries(services).flatMap(([name, port]) => serviceOf(name, port)),
  ];
  const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
  // Each worker remembers answers of its own.
  const flags = [...nginxFlags, "--proxy-workers", "1"];
  await withGateway({ manifests: { "all.json": list }, flags }, run);
  const [nginx, gateway] = results;
  if (nginx === undefined || gateway === undefined) throw new Error("a server was not asked");
  return { nginx, gateway };
}
