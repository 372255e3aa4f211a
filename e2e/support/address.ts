import { namespace } from "../deploy/release.ts";
import { ask } from "./api.ts";
import { provider } from "./provider.ts";

export type ProxyAddress = { readonly host: string; readonly http: number; readonly https: number };

type Service = {
  readonly spec: { readonly ports: readonly { readonly name: string; readonly nodePort?: number }[] };
  readonly status: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
};

const sharedProxyService = (home = namespace): Promise<Service> =>
  ask(`/api/v1/namespaces/${home}/services/svc-shared-proxy`);

let known: Promise<ProxyAddress> | undefined;

/**
 * The address of the shared proxies for this machine, by node port. The local provider binds node ports to the
 * loopback interface, so that load never leaves the machine.
 */
export function proxyAddress(): Promise<ProxyAddress> {
  known ??= addressOfProxies(namespace);
  return known;
}

/** The address of the proxies of the installation in a namespace. */
export async function addressOfProxies(home: string): Promise<ProxyAddress> {
  const [host, { spec }] = await Promise.all([provider("host"), sharedProxyService(home)]);
  const portOf = (name: string): number => {
    const port = spec.ports.find((candidate) => candidate.name === name)?.nodePort;
    if (port === undefined) throw new Error(`svc-shared-proxy has no node port for ${name}`);
    return port;
  };
  return { host, http: portOf("http"), https: portOf("https") };
}

/** The addresses that the load balancer of the cluster assigned to the shared proxies. */
export async function loadBalancerAddresses(): Promise<readonly string[]> {
  const { status } = await sharedProxyService();
  return (status.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
}
