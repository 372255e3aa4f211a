/** The Helm release of the test cluster, and its removal. */
import { join } from "node:path";
import { helm, kubectl, providerName, root, tryKubectl } from "../support/provider.ts";
import {
  installGatewayApi,
  releaseGateways,
  uninstallGatewayApi,
  type GatewayApiChannel,
} from "./gateway-api-definitions.ts";
import type { Image } from "./image.ts";

export const release = "svc-gateway";
export const namespace = "svc-system";

export type DeployOptions = {
  readonly image: Image;
  readonly gatewayApi: GatewayApiChannel;
  /** Additional arguments of `helm upgrade`, such as `--set vap.enabled=false`. */
  readonly helmArguments?: readonly string[];
};

const chart = join(root, "config/chart");

/** Installs or upgrades the release, and waits until every pod is ready. */
export async function deploy({ image, gatewayApi, helmArguments = [] }: DeployOptions): Promise<void> {
  await installGatewayApi(gatewayApi);
  await helm(
    [
      ...["upgrade", "--install", release, chart, "--namespace", namespace, "--create-namespace"],
      ...["--set", `image.repository=${image.repository}`, "--set-string", `image.tag=${image.tag}`],
      ...((await providerName()) === "kind" ? kindArguments : []),
      ...codecArguments(),
      ...helmArguments,
      ...["--wait", "--timeout", "180s"],
    ],
    { timeoutMs: 240_000 },
  );
}

/** Whether a complete or partial installation exists, by the object that undeploy removes last. */
export const isDeployed = async (): Promise<boolean> =>
  (await tryKubectl(["get", "namespace", namespace])).status === 0;

/**
 * The arguments for CODECS=node and SOCKET_LAYER=node in the environment: shared proxies with Node's codecs, or on
 * its public sockets.
 */
function codecArguments(): readonly string[] {
  const { CODECS: codecs, SOCKET_LAYER: layer } = process.env;
  const flags = { "http1-codec": codecs, "http2-codec": codecs, "socket-layer": layer };
  return Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined || value === "" ? [] : ["--set", `sharedProxy.flags.${flag}=${value}`],
  );
}

/** The ports that config/kind/cluster.yaml maps to this machine. */
const kindArguments = [
  ...["--set", "sharedProxy.service.type=NodePort"],
  ...["--set", "sharedProxy.service.nodePorts.http=30080"],
  ...["--set", "sharedProxy.service.nodePorts.https=30443"],
];

/** Removes the release and everything that it and this tool have installed, including the custom resources. */
export async function undeploy(): Promise<void> {
  // Without --wait, because a GatewayClass with Gateways exists until its finalizer is removed below.
  await helm(["uninstall", release, "--namespace", namespace, "--ignore-not-found", "--timeout", "180s"], {
    timeoutMs: 240_000,
  });
  const pods = ["pod", "--selector", "app.kubernetes.io/name=svc", "--namespace", namespace];
  // Fails if no pod is left, in which case there is no need to wait.
  await tryKubectl(["wait", "--for=delete", ...pods, "--timeout=180s"]);
  await kubectl([
    "delete",
    "crd",
    "--selector",
    "app.kubernetes.io/part-of=svc-gateway",
    "--ignore-not-found",
  ]);
  await releaseGateways();
  await uninstallGatewayApi();
  await kubectl(["delete", "namespace", namespace, "--ignore-not-found", "--timeout=120s"]);
}

/** The address at which the shared proxies can be reached from this machine over HTTP: `host:port`. */
export async function publicAddress(): Promise<string> {
  if ((await providerName()) === "kind") return "127.0.0.1:8080";
  const path = "jsonpath={.status.loadBalancer.ingress[0].ip}";
  await kubectl([
    ...["--namespace", namespace, "wait", "service/svc-shared-proxy", "--timeout=60s"],
    "--for=jsonpath={.status.loadBalancer.ingress[0].ip}",
  ]);
  return kubectl(["--namespace", namespace, "get", "service", "svc-shared-proxy", "--output", path]);
}
