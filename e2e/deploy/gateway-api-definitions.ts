/**
 * The custom resource definitions of the Gateway API, for a cluster that has none: those of the release that this
 * project's types come from, read out of its Go module.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gatewayApiVersion } from "../../scripts/generate-api-fetch.ts";
import { kubectl, root, tryKubectl } from "../support/provider.ts";
import { mustRun, run } from "../support/run-program.ts";

/** `experimental` has every kind, `standard` those that will stay, `none` leaves the cluster as it is. */
export type GatewayApiChannel = "experimental" | "standard" | "none";

const module = "sigs.k8s.io/gateway-api";
/** What this tool has installed, and so may remove. */
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

/** The finalizers of Gateways with proxies of their own, and of classes that have Gateways. */
const ownFinalizers = [
  "gateway.svc-labs.dev/dedicated-cleanup",
  "gateway-exists-finalizer.gateway.networking.k8s.io",
];

/**
 * Removes the finalizers of Gateways and classes when no controller runs any more; their objects are deleted with them.
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
    // An object that was deleted meanwhile needs nothing.
    await tryKubectl(["patch", kind, name, ...where, ...patch]);
  }
}

export const uninstallGatewayApi = (): Promise<string> =>
  kubectl(["delete", "crd", "--selector", ownLabel, "--ignore-not-found", "--timeout=120s"]);

/** A folder with the definitions only: the channel's admission policy would refuse a change of channel. */
export async function gatewayApiDefinitions(channel: GatewayApiChannel): Promise<string> {
  const folder = join(root, ".cache/gateway-api", `${gatewayApiVersion}-${channel}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const version = `${module}@${gatewayApiVersion}`;
  // Ends with 1 when the module asks for a newer Go than this one; the archive is downloaded all the same.
  const { stdout } = await run("go", ["mod", "download", "-json", version], { env: { GOFLAGS: "-mod=mod" } });
  const { Zip } = (stdout === "" ? {} : JSON.parse(stdout)) as { readonly Zip?: string };
  if (Zip === undefined) throw new Error(`go mod download ${version} gave no archive`);
  const files = `${version}/config/crd/${channel}/gateway.networking.k8s.io_*.yaml`;
  await mustRun("unzip", ["-q", "-j", Zip, files, "-x", "*_vap_*", "-d", folder]);
  return folder;
}
