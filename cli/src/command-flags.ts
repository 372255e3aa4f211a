/** The flags of the commands that read a folder without serving it. */
import { splitArguments } from "@svc-gateway/common/settings/arguments.ts";
import { choiceType, pathType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag, optionalFlag, type Flag } from "@svc-gateway/common/settings/flag.ts";
import { defaultText } from "@svc-gateway/common/settings/help.ts";
import { readFlags, type FlagInput } from "@svc-gateway/common/settings/read-flags.ts";
import { portConflict } from "@svc-gateway/common/settings/ports.ts";
import { flagsOf, type StandaloneSettings } from "@svc-gateway/common/settings/settings.ts";
import { ok, problem, type Problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { ClusterChoice } from "./live/live-flags.ts";
import type { TranslationFlags } from "./translate-settings.ts";
import { twoColumns } from "./text/columns.ts";

export const outputFlag = flag({
  name: "output",
  short: "o",
  type: choiceType(["text", "json", "yaml"]),
  roles: ["standalone"],
  defaultValue: "text",
  meaning: "Output format.",
});

export const failOnFlag = flag({
  name: "fail-on",
  type: choiceType(["error", "warning"]),
  roles: ["standalone"],
  defaultValue: "error",
  meaning: "Lowest severity of findings that result in exit code 1.",
});

export type OutputForm = "text" | "json" | "yaml";

/** The flags of `serve standalone` that change the translation of a folder; equal values have the same result here. */
const translationFlagNames: { readonly [K in keyof TranslationFlags]: string } = {
  controllerName: "controller-name",
  watchNamespace: "watch-namespace",
  ingressClass: "ingress-class",
  ingressNginxClasses: "ingress-nginx-classes",
  ingressNginxWatchWithoutClass: "ingress-nginx-watch-without-class",
  ingressNginxAnnotationsPrefix: "ingress-nginx-annotations-prefix",
  ingressNginxConfigmap: "ingress-nginx-configmap",
  ingressNginxUpdateStatus: "ingress-nginx-update-status",
  ingressNginxFallbackCertificate: "ingress-nginx-fallback-certificate",
  ingressNginxSslPassthrough: "ingress-nginx-ssl-passthrough",
  ingressNginxExternalAuth: "ingress-nginx-external-auth",
  ingressNginxSharedServices: "ingress-nginx-shared-services",
  ingressNginxDisableCatchAll: "ingress-nginx-disable-catch-all",
  ingressNginxRequireBackendVerification: "ingress-nginx-require-backend-verification",
  allowExternalName: "allow-external-name",
  backendTlsStrict: "backend-tls-strict",
  classParametersStrict: "class-parameters-strict",
  hostOwnership: "host-ownership",
  managementBindAddress: "management-bind-address",
  adminPort: "admin-port",
  healthPort: "health-port",
  adminUi: "admin-ui",
  adminUiBindAddress: "admin-ui-bind-address",
  adminUiPort: "admin-ui-port",
  disableIngress: "disable-ingress",
  disableGatewayApi: "disable-gateway-api",
  ingressHttpPort: "ingress-http-port",
  ingressHttpsPort: "ingress-https-port",
  ingressHttpPublicPort: "ingress-http-public-port",
  ingressHttpsPublicPort: "ingress-https-public-port",
  ingressDefaultBackend: "ingress-default-backend",
  defaultTlsSecret: "default-tls-secret",
  portMap: "port-map",
  proxyBindAddress: "proxy-bind-address",
};

export const translationFlags: readonly Flag[] = flagsOf("standalone").filter(({ name }) =>
  Object.values(translationFlagNames).includes(name),
);

/** The flag of `explain` for the manifests to read. */
export const manifestsFlag = optionalFlag({
  name: "manifests",
  type: pathType,
  roles: ["standalone"],
  shownDefault: "required without --live",
  meaning: "Folder of manifests, or a file, or - for standard input.",
});

export type FolderSettings = StandaloneSettings &
  Partial<ClusterChoice> & {
    readonly live?: boolean;
    readonly output: OutputForm;
    readonly failOn: "error" | "warning";
  };

/** The part of the settings that selects the cluster to read. */
export const choiceOf = ({ kubeconfig, context, namespace }: Partial<ClusterChoice>): ClusterChoice => ({
  kubeconfig,
  context,
  namespace,
});

/** Reads the values of these flags, and the positional arguments. */
export function readFolderFlags(
  known: readonly Flag[],
  { argv, env }: FlagInput,
): Result<{ readonly settings: FolderSettings; readonly positionals: readonly string[] }, Problem> {
  const read = readFlags(known, "standalone", { argv: expandShort(known, argv), env });
  if (!read.ok) return read;
  // Commands read only the settings of their own flags.
  const settings = read.value.values as FolderSettings;
  const conflict = portConflict(settings);
  if (conflict !== undefined) return problem(conflict);
  return ok({ settings, positionals: read.value.positionals });
}

/**
 * Returns the texts of translation flags on a command line, by name. A flag that controllers do not have is a problem,
 * because it has no meaning for a cluster.
 */
export function givenToControllers(
  known: readonly Flag[],
  argv: readonly string[],
): Result<ReadonlyMap<string, string>, Problem> {
  const split = splitArguments(known, expandShort(known, argv));
  if (!split.ok) return split;
  const ofTranslation = new Set(translationFlags.map(({ name }) => name));
  const given = new Map([...split.value.texts].filter(([name]) => ofTranslation.has(name)));
  const ofControllers = new Set(flagsOf("controller").map(({ name }) => name));
  const foreign = [...given.keys()].find((name) => !ofControllers.has(name));
  return foreign === undefined ? ok(given) : problem(`--${foreign}: cannot be combined with --live`);
}

/** Returns the problem with the paths of a command that reads folders, files and standard input, or undefined. */
export function problemOfPaths(command: string, paths: readonly string[]): string | undefined {
  if (paths.length === 0) return `${command}: expected a folder, a file, or - for standard input`;
  if (paths.filter((path) => path === "-").length > 1)
    return `${command}: standard input (-) can be read only once`;
  return undefined;
}

/** Replaces short forms of flags by their names, such as `-o` by `--output`. */
export function expandShort(known: readonly Flag[], argv: readonly string[]): readonly string[] {
  const longForms = new Map<string, string>(
    known.flatMap(({ name, short }) => (short === undefined ? [] : [[`-${short}`, `--${name}`] as const])),
  );
  return argv.map((word) => {
    const long = longForms.get(word.slice(0, 2));
    return long !== undefined && (word.length === 2 || word[2] === "=") ? `${long}${word.slice(2)}` : word;
  });
}

type NginxSettings = Pick<StandaloneSettings, "ingressNginxClasses" | "ingressNginxWatchWithoutClass">;

/** Adds the default class of ingress-nginx, `nginx`, to settings that name no class. */
export function namingClasses<S extends NginxSettings>(settings: S): S {
  const namesNone = settings.ingressNginxClasses.length === 0 && !settings.ingressNginxWatchWithoutClass;
  return namesNone ? { ...settings, ingressNginxClasses: ["nginx"] } : settings;
}

/**
 * The lines of the help text for the flags of a command that reads a folder: its own flags, then those of the gateway,
 * which only specify how the folder would be served.
 */
export const helpOfFlags = (own: readonly Flag[]): readonly string[] => [
  "Flags:",
  ...flagRows(own),
  "",
  "Flags of the gateway: they say how it would serve the manifests, and nothing is started:",
  ...flagRows(translationFlags),
];

/** The rows of a help text for flags. */
export const flagRows = (known: readonly Flag[]): readonly string[] =>
  twoColumns(
    known.map((one) => [
      `${one.short === undefined ? "" : `-${one.short}, `}--${one.name}${one.type.isSwitch === true ? "[=false]" : ` <${one.type.name}>`}`,
      `${one.meaning.replaceAll("`", "")} (${defaultText(one, "standalone").replaceAll("`", "")})`,
    ]),
  );
