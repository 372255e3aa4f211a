/**
 * A replacement for ingress-nginx on a cluster that cannot run it: Debian's nginx on this machine, with the
 * configuration that ingress-nginx would write, and the status that it would write to its Ingresses.
 */
import { parseAllDocuments } from "yaml";
import type { CorpusObject } from "../../cli/test/ingress-nginx/cases.ts";
import { nginxConfig } from "../../cli/test/ingress-nginx/nginx/config.ts";
import { withNginx } from "../../cli/test/ingress-nginx/nginx/process.ts";
import { sitesOf } from "../../cli/test/ingress-nginx/nginx/sites.ts";
import type { ProxyAddress } from "./address.ts";
import { ask } from "./api.ts";

/** The address that the replacement writes to the status. */
export const oldAddress = "old.ingress-nginx.example";

/** Runs the body while nginx serves these manifests; `endpoints` are those of the only Service, each as `host:port`. */
export const withOldController = (
  manifests: string,
  endpoints: readonly string[],
  body: (address: ProxyAddress) => Promise<void>,
): Promise<void> => {
  const objects = parseAllDocuments(manifests).map((one) => one.toJS() as CorpusObject);
  const sites = sitesOf({ objects });
  return withNginx(
    (folder, ports) =>
      nginxConfig(sites, {
        ...ports,
        folder,
        upstreams: new Map([["echo", endpoints]]),
        addressOf: () => "echo",
        certificateOf: () => undefined,
        usersOf: () => "",
        authorityOf: () => "",
      }),
    ({ httpPort, httpsPort }) => body({ host: "127.0.0.1", http: httpPort, https: httpsPort }),
  );
};

type IngressStatus = {
  readonly status: {
    readonly loadBalancer?: {
      readonly ingress?: readonly { readonly ip?: string; readonly hostname?: string }[];
    };
  };
};

const pathOf = (namespace: string, name: string): string =>
  `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/${name}`;

/** The addresses in the status of an Ingress, to which DNS records of external-dns point. */
export async function statusAddresses(namespace: string, name: string): Promise<readonly string[]> {
  const { status } = await ask<IngressStatus>(pathOf(namespace, name));
  return (status.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
}

/** Writes the status as ingress-nginx does in each of its periodic updates. */
export async function writeOldStatus(namespace: string, name: string): Promise<void> {
  const status = { loadBalancer: { ingress: [{ hostname: oldAddress }] } };
  await ask(`${pathOf(namespace, name)}/status`, { method: "PATCH", body: { status } });
}
