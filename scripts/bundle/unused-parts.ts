/**
 * Excludes from the bundle the parts of two dependencies that this program never runs. It uses only `KubeConfig` of
 * the Kubernetes client and sends requests itself (operator/src/sources/kubernetes/api-client.ts); of the operator
 * library, it uses the lifecycle (docs/adr/0010-operator-shell.md). A name that a replacement does not export fails
 * the build.
 */
import type { Plugin } from "esbuild";

type Replacement = {
  /** The package in which imports are replaced; if undefined, they are replaced everywhere. */
  readonly importer?: string;
  /** The module as named in imports. */
  readonly module: string;
  /** The reason why the program does not need the module. */
  readonly reason: string;
  readonly source: string;
};

/** The source of a function that throws an error for an unsupported feature. */
const unsupported = (name: string, sentence: string): string =>
  `export function ${name}() { throw new Error(${JSON.stringify(sentence)}); }`;

const proxySentence = "unreachable: a kubeconfig with a proxy is rejected before";
const legacySentence =
  'the token of the kubeconfig has expired, and its auth provider "gcp" or "azure" is not supported, expected an exec plugin';

export const replacements: readonly Replacement[] = [
  {
    module: "@kubernetes/client-node",
    reason:
      "Only the kubeconfig is read with it. The base class of the operator makes a client and never calls it.",
    source: `export { KubeConfig } from "@kubernetes/client-node/dist/config.js"; export class CoreV1Api {}`,
  },
  {
    importer: "@kubernetes/client-node",
    module: "./gen/index.js",
    reason: "Classes of all kinds of Kubernetes, five megabytes; objects are used as the JSON that they are.",
    source: "export const createConfiguration = () => ({}); export class ServerConfiguration {}",
  },
  {
    importer: "@kubernetes/client-node",
    module: "openid-client",
    reason:
      'Renews tokens of the auth provider "oidc". A token that is valid is used; kubectl renews one that has expired.',
    source: [
      "export const customFetch = Symbol();",
      unsupported(
        "discovery",
        'the id-token of the auth provider "oidc" in the kubeconfig has expired, and only kubectl renews it: run "kubectl version" once, or use an exec plugin',
      ),
      unsupported("refreshTokenGrant", "unreachable: no client of an issuer exists without discovery"),
    ].join("\n"),
  },
  {
    importer: "@kubernetes/client-node",
    module: "jsonpath-plus",
    reason:
      'Reads what the commands of the auth providers "gcp" and "azure" print, which kubectl dropped in Kubernetes 1.26.',
    source: unsupported("JSONPath", legacySentence),
  },
  ...[
    { module: "hpagent", names: ["HttpProxyAgent", "HttpsProxyAgent"] },
    { module: "socks-proxy-agent", names: ["SocksProxyAgent"] },
    { module: "socks", names: ["SocksClient"] },
  ].map(({ module, names }) => ({
    importer: "@kubernetes/client-node",
    module,
    reason: "The client rejects a kubeconfig with a proxy before it asks for an agent.",
    source: names.map((name) => unsupported(name, proxySentence)).join("\n"),
  })),
  {
    module: "prom-client",
    reason:
      "Its registry writes the text of metrics; its own metrics and what they load, such as OpenTelemetry, are not used.",
    source: `export { default as Registry } from "prom-client/lib/registry.js";`,
  },
  {
    importer: "zod",
    module: "../locales/index.js",
    reason: "Messages are English. The others are half of its text.",
    source: `export { default as en } from "zod/v4/locales/en.js";`,
  },
  {
    importer: "@grpc/grpc-js",
    module: "@grpc/proto-loader",
    reason:
      "Messages are read by generated code. It reads the definitions of channelz and of load reports, which are off.",
    source: unsupported("loadSync", "unreachable: channelz and load reports of backends are off"),
  },
  {
    importer: "@dot-i/k8s-operator",
    module: "gaxios",
    reason: "Statuses are written by the program's own client.",
    source: unsupported("request", "unreachable: the operator library writes nothing"),
  },
];

/** Replaces these modules in a bundle. */
export const unusedParts: Plugin = {
  name: "unused-parts",
  setup(bundle) {
    const namespace = "unused-parts";
    for (const { importer, module } of replacements) {
      const filter = new RegExp(`^${module.replaceAll(/[./-]/g, String.raw`\$&`)}$`);
      bundle.onResolve({ filter }, (args) => {
        const isMeant =
          importer === undefined ||
          args.importer
            .slice(args.importer.lastIndexOf("/node_modules/"))
            .startsWith(`/node_modules/${importer}/`);
        return isMeant ? { path: module, namespace, sideEffects: false } : undefined;
      });
    }
    bundle.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: replacements.find(({ module }) => module === path)?.source ?? "",
      // The folder from which a replacement resolves the module that it replaces.
      resolveDir: bundle.initialOptions.absWorkingDir ?? process.cwd(),
    }));
  },
};
