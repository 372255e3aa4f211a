/**
 * The custom resource definitions of the Gateway API, for a cluster without them. They are read from the Go module of
 * the release from which the types of this project are generated.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gatewayApiVersion } from "../../scripts/generate-api-fetch.ts";
import { kubectl, root, tryKubectl } from "../support/provider.ts";
import { mustRun, run } from "../support/run-program.ts";

/** `experimental` has every kind, `standard` only the stable ones, and `none` does not change the cluster. */
export type GatewayApiChannel = "experimental" | "standard" | "none";

const module = "sigs.k8s.io/gateway-api";
/** The label of the objects that this tool has installed, and can therefore remove. */
const ownLabel = "svc-labs.dev/installed-by=make-deploy";

export async function installGatewayApi(channel: GatewayApiChannel): Promise<void> {
  if (channel === "none") return;
  const present = await tryKubectl(["get", "crd", "gatewayclasses.gateway.networking.k8s.io"]);
  if (present.status === 0) return;
  const folder = await gatewayApiDefinitions(channel);
  await kubectl(["apply", "--server-side", "--filename", folder]);
  await kubectl(["label", "--filename", folder, ownLabel]);
  await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "--filename", folder]);
}

/** The finalizers of Gateways with dedicated proxies, and of classes that have Gateways. */
const ownFinalizers = [
  "gateway.svc-labs.dev/dedicated-cleanup",
  "gateway-exists-finalizer.gateway.networking.k8s.io",
];

/**
 * Removes the finalizers of Gateways and classes when no controller runs any more. Their dependent objects are
 * deleted with them.
 */
export async function releaseGateways(): Promise<void> {
  for (const kind of ["gateways", "gatewayclasses"]) await releaseAll(kind);
}

async function releaseAll(kind: string): Promise<void> {
  const { status, stdout } = await tryKubectl(["get", kind, "--all-namespaces", "--output", "json"]);
  if (status !== 0) return;
  const { items } = JSON.parse(stdout) as {
    readonly items: readonly {
      readonly metadata: {
        readonly namespace?: string;
        readonly name: string;
        readonly finalizers?: readonly string[];
      };
    }[];
  };
  for (const { metadata } of items) {
    const { namespace, name, finalizers = [] } = metadata;
    const kept = finalizers.filter((one) => !ownFinalizers.includes(one));
    if (kept.length === finalizers.length) continue;
    const patch = ["--type", "merge", "--patch", JSON.stringify({ metadata: { finalizers: kept } })];
    const where = namespace === undefined ? [] : ["--namespace", namespace];
    // An object that has been deleted meanwhile needs no patch.
    await tryKubectl(["patch", kind, name, ...where, ...patch]);
  }
}

export const uninstallGatewayApi = (): Promise<string> =>
  kubectl(["delete", "crd", "--selector", ownLabel, "--ignore-not-found", "--timeout=120s"]);

/**
 * Returns a folder with the definitions only, because the admission policy of a channel would reject a change of
 * channel.
 */
export async function gatewayApiDefinitions(channel: GatewayApiChannel): Promise<string> {
  const folder = join(root, ".cache/gateway-api", `${gatewayApiVersion}-${channel}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const version = `${module}@${gatewayApiVersion}`;
  // The command exits with 1 when the module requires a newer Go than the installed one, but still downloads the
  // archive.
  const { stdout } = await run("go", ["mod", "download", "-json", version], { env: { GOFLAGS: "-mod=mod" } });
  const { Zip } = (stdout === "" ? {} : JSON.parse(stdout)) as { readonly Zip?: string };
  if (Zip === undefined) throw new Error(`go mod download ${version} gave no archive`);
  const files = `${version}/config/crd/${channel}/gateway.networking.k8s.io_*.yaml`;
  await mustRun("unzip", ["-q", "-j", Zip, files, "-x", "*_vap_*", "-d", folder]);
  return folder;
}
