/**
 * Reads the published schemas of the kinds of Kubernetes and the Gateway API: the OpenAPI documents of the former,
 * and the CRDs of the experimental channel of the latter. Both are available as Go modules through the `go` command,
 * so this step needs Go, `unzip` and the network; the rest of scripts/generate-api.ts needs none of them.
 */
import { execFileSync } from "node:child_process";
import { parse } from "yaml";
import type { KindDefinition, Schema } from "../operator/src/api/schema.ts";
import type { Crd, PublishedSchema } from "./generate-api-reduce.ts";
import {
  definitionOfCrd,
  inlineReferences,
  reduceStructural,
  withoutCommonFields,
} from "./generate-api-reduce.ts";
import { addApiServerChecks } from "./generate-api-core.ts";

export const gatewayApiVersion = "v1.7.0";
export const kubernetesVersion = "v1.36.3";

const gatewayPlurals = [
  "gatewayclasses",
  "gateways",
  "listenersets",
  "httproutes",
  "grpcroutes",
  "tlsroutes",
  "tcproutes",
  "udproutes",
  "backendtlspolicies",
  "referencegrants",
];

type CoreKind = Omit<KindDefinition, "schema"> & { readonly document: string; readonly schemaName: string };

const coreKinds: readonly CoreKind[] = [
  core("", "v1", "Namespace", "namespaces", false),
  core("", "v1", "Service", "services", true),
  core("", "v1", "Secret", "secrets", true),
  core("", "v1", "ConfigMap", "configmaps", true),
  core("networking", "v1", "Ingress", "ingresses", true),
  core("networking", "v1", "IngressClass", "ingressclasses", false),
  core("discovery", "v1", "EndpointSlice", "endpointslices", true),
  // Kubernetes serves v1 since 1.37, with the same schema.
  {
    ...core("certificates", "v1beta1", "ClusterTrustBundle", "clustertrustbundles", false),
    versions: ["v1", "v1beta1"],
  },
];

function core(area: string, version: string, kind: string, plural: string, namespaced: boolean): CoreKind {
  const group = area === "" ? "" : `${area}.k8s.io`;
  return {
    kind,
    group,
    versions: [version],
    plural,
    namespaced,
    document: group === "" ? `api__${version}_openapi.json` : `apis__${group}__${version}_openapi.json`,
    schemaName: `io.k8s.api.${area === "" ? "core" : area}.${version}.${kind}`,
  };
}

/** Downloads both modules and returns the definitions of all their kinds. */
export function fetchDefinitions(): readonly KindDefinition[] {
  return [...fetchGatewayKinds(), ...fetchCoreKinds()];
}

function fetchGatewayKinds(): readonly KindDefinition[] {
  const read = openModule("sigs.k8s.io/gateway-api", gatewayApiVersion);
  return gatewayPlurals.map((plural) =>
    definitionOfCrd(parse(read(`config/crd/experimental/gateway.networking.k8s.io_${plural}.yaml`)) as Crd),
  );
}

function fetchCoreKinds(): readonly KindDefinition[] {
  const read = openModule("k8s.io/kubernetes", kubernetesVersion);
  return coreKinds.map(({ document, schemaName, ...definition }) => {
    const openApi = JSON.parse(read(`api/openapi-spec/v3/${document}`)) as {
      components: { schemas: { [name: string]: PublishedSchema } };
    };
    const published = openApi.components.schemas[schemaName];
    if (published === undefined) throw new Error(`${document} has no ${schemaName}`);
    const reduced = withoutCommonFields(
      reduceStructural(inlineReferences(published, openApi.components.schemas)),
    );
    return { ...definition, schema: addApiServerChecks(definition.kind, reduced) satisfies Schema };
  });
}

/**
 * Returns a function that reads the files of a Go module. `go mod download -json` exits with 1 when the module
 * requires a newer Go than the one installed, but has then still downloaded and verified its archive.
 */
function openModule(path: string, version: string): (file: string) => string {
  const archive = downloadArchive(`${path}@${version}`);
  return (file) =>
    execFileSync("unzip", ["-p", archive, `${path}@${version}/${file}`], {
      encoding: "utf8",
      maxBuffer: 2 ** 26,
    });
}

function downloadArchive(module: string): string {
  let output: string;
  try {
    output = execFileSync("go", ["mod", "download", "-json", module], { encoding: "utf8", cwd: "/" });
  } catch (error) {
    output = (error as { readonly stdout?: string }).stdout ?? "";
  }
  const { Zip } = (output === "" ? {} : JSON.parse(output)) as { Zip?: string };
  if (Zip === undefined) throw new Error(`go mod download ${module} returned no archive`);
  return Zip;
}
