import { logFormatFor, type LogDestination, type LogFormat } from "../telemetry/log-format.ts";
import type { Endpoint } from "../values/endpoint.ts";
import { formatDuration } from "../values/duration.ts";
import type { NamespacedName } from "../values/namespaced-name.ts";
import { ok, problem, type Problem, type Result } from "../values/result.ts";
import { clip } from "./arguments.ts";
import type { Flag, FlagType, Role } from "./flag.ts";
import { flags } from "./flags.ts";
import { portConflict, type PortSettings } from "./ports.ts";
import { discoveryBootstrapPort } from "./proxy-flags.ts";
import { readFlags, unknownVariables, type FlagInput } from "./read-flags.ts";

type DeclaredFlag = (typeof flags)[number];

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

type SettingName<Declared extends DeclaredFlag> = `${CamelCase<Declared["name"]>}${Declared["type"]["unit"]}`;

type ValueOf<Declared extends DeclaredFlag> = Declared["type"] extends FlagType<infer Value> ? Value : never;

/**
 * The settings of a role: one property per flag, named after it in camel case with its unit, so that
 * `--proxy-connect-timeout` is `proxyConnectTimeoutMs` and `--proxy-max-uri-size` is `proxyMaxUriSizeBytes`. A timeout
 * of 0 is off. See docs/reference/flags.md.
 */
type SettingsOf<For extends Role> = Omit<FlagValuesOf<For>, "logFormat"> & {
  /** The log format that follows from `--log-format` and the destination of the log. */
  readonly logFormat: LogFormat;
};

type FlagValuesOf<For extends Role> = {
  readonly [
    Declared in DeclaredFlag as For extends Declared["roles"][number] ? SettingName<Declared> : never
  ]: ValueOf<Declared>;
};

/** The scope that a proxy serves: the shared pool, or one Gateway. */
export type ProxyScope =
  { readonly kind: "shared" } | { readonly kind: "dedicated"; readonly gateway: NamespacedName };

/** The settings of `serve controller`. */
export type ControllerSettings = SettingsOf<"controller">;

/** The settings of `serve proxy`. */
export type ProxySettings = Omit<
  SettingsOf<"proxy">,
  "shared" | "dedicated" | "gatewayName" | "gatewayNamespace" | "discoveryBootstrapEndpoint"
> & { readonly scope: ProxyScope; readonly discoveryBootstrapEndpoint: Endpoint };

/** The settings of `serve standalone`. */
export type StandaloneSettings = Omit<SettingsOf<"standalone">, "manifests"> & {
  /** The folder to serve; empty if `proxy` replaces it. */
  readonly manifests: string;
};

/** The settings of every process: identity, admin ports, log. */
export type ProcessSettings = Pick<
  StandaloneSettings,
  Extract<keyof StandaloneSettings, keyof SettingsOf<"controller"> & keyof SettingsOf<"proxy">>
>;

/** The settings of the data plane, in every role that includes it. */
export type DataPlaneSettings = Pick<
  StandaloneSettings,
  Extract<keyof StandaloneSettings, keyof ProxySettings>
>;

/** The settings of translation and its sources, in every role that includes them. */
export type ControlPlaneSettings = Pick<
  StandaloneSettings,
  Extract<keyof StandaloneSettings, keyof ControllerSettings>
>;

/** The arguments and environment of a process, and the destination of its log, which is not a terminal by default. */
export type SettingsInput = FlagInput & { readonly output?: LogDestination };

/** Settings, and one warning per unknown variable with the prefix of this product. */
export type ReadSettings<Settings> = { readonly settings: Settings; readonly warnings: readonly string[] };

/** Reads the settings of `serve controller`. */
export function readControllerSettings(
  input: SettingsInput,
): Result<ReadSettings<ControllerSettings>, Problem> {
  const read = readSettings("controller", input);
  if (!read.ok) return read;
  const { settings } = read.value;
  const { controllerLeaseTtlMs: ttlMs, controllerLeaseRenewIntervalMs: renewMs } = settings;
  if (ttlMs < 3 * renewMs)
    return problem(
      `--controller-lease-ttl: expected at least three times the renew interval of ${formatDuration(renewMs)}, got "${formatDuration(ttlMs)}"`,
    );
  const mistake = settings.disableClusterScope
    ? mistakeWithoutClusterScope(settings)
    : mistakeWithClusterScope(settings);
  return mistake === undefined ? read : problem(mistake);
}

/**
 * Describes flags that are missing or impossible if only namespaced objects are read (docs/namespaced-installation.md).
 */
function mistakeWithoutClusterScope(settings: ControllerSettings): string | undefined {
  const { watchNamespace, ingressClass, ingressNginxClasses, disableIngress } = settings;
  const { gatewayClass, disableGatewayApi, adminAuth } = settings;
  if (watchNamespace.length === 0)
    return "--disable-cluster-scope: requires --watch-namespace with the namespaces that are served";
  if (!disableIngress && ingressClass === undefined && ingressNginxClasses.length === 0)
    return "--disable-cluster-scope: requires --ingress-class, since IngressClasses are not read, or --disable-ingress";
  if (!disableGatewayApi && gatewayClass === undefined)
    return "--disable-cluster-scope: requires --gateway-class, since GatewayClasses are not read, or --disable-gateway-api";
  if (adminAuth)
    return "--admin-auth: cannot be combined with --disable-cluster-scope, since tokens are verified by cluster-scoped reviews";
  return undefined;
}

/** Describes flags that name objects which the controller otherwise reads itself. */
function mistakeWithClusterScope({
  gatewayClass,
  ingressClassParameters,
}: ControllerSettings): string | undefined {
  const given = { "gateway-class": gatewayClass, "ingress-class-parameters": ingressClassParameters };
  const [alone] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  return alone === undefined ? undefined : `--${alone}: requires --disable-cluster-scope`;
}

/**
 * Reads the settings of `serve proxy`: exactly one scope, and a bootstrap endpoint in addition to that of the stream.
 */
export function readProxySettings(input: SettingsInput): Result<ReadSettings<ProxySettings>, Problem> {
  const read = readSettings("proxy", input);
  if (!read.ok) return read;
  const { shared, dedicated, gatewayName, gatewayNamespace, discoveryBootstrapEndpoint, ...rest } =
    read.value.settings;
  if (shared === dedicated)
    return problem(
      "--shared, --dedicated: exactly one of them is required; --dedicated also requires --gateway-name and --gateway-namespace",
    );
  const hasGateway = gatewayName !== undefined && gatewayNamespace !== undefined;
  if (dedicated && !hasGateway)
    return problem("--dedicated: requires --gateway-name and --gateway-namespace");
  if (shared && (gatewayName !== undefined || gatewayNamespace !== undefined))
    return problem("--shared: cannot be combined with --gateway-name or --gateway-namespace");
  const scope: ProxyScope =
    dedicated && hasGateway
      ? { kind: "dedicated", gateway: { namespace: gatewayNamespace, name: gatewayName } }
      : { kind: "shared" };
  const bootstrap = discoveryBootstrapEndpoint ?? {
    host: rest.discoveryEndpoint.host,
    port: discoveryBootstrapPort,
  };
  return ok({
    settings: { ...rest, scope, discoveryBootstrapEndpoint: bootstrap },
    warnings: read.value.warnings,
  });
}

/** Reads the settings of `serve standalone`: a folder, or the rules that replace it. */
export function readStandaloneSettings(
  input: SettingsInput,
): Result<ReadSettings<StandaloneSettings>, Problem> {
  const read = readSettings("standalone", input);
  if (!read.ok) return read;
  const { settings, warnings } = read.value;
  const { manifests = "", proxy, cert, key, localCaDir, proxyCa, printManifests } = settings;
  if (manifests === "" && proxy.length === 0)
    return problem(
      "--manifests: required: a folder of manifests (or set SVC_MANIFESTS), or --proxy HOST=BACKEND in its place",
    );
  if (manifests !== "" && proxy.length > 0) return problem("--proxy: cannot be combined with --manifests");
  if ((cert === undefined) !== (key === undefined))
    return problem("--cert, --key: a certificate and its key are given together");
  const ofProxy = {
    cert,
    "local-ca-dir": localCaDir,
    "proxy-ca": proxyCa,
    "print-manifests": printManifests,
  };
  const [alone] = Object.entries(ofProxy).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (alone !== undefined && proxy.length === 0) return problem(`--${alone}: requires --proxy`);
  return ok({ settings: { ...settings, manifests }, warnings });
}

/** The flags of a role, in the order of the documentation. */
export function flagsOf(role: Role): readonly Flag[] {
  return (flags as readonly Flag[]).filter((flag) => flag.roles.includes(role));
}

function readSettings<For extends Role>(
  role: For,
  input: SettingsInput,
): Result<ReadSettings<SettingsOf<For>>, Problem> {
  const foreign = foreignFlag(role, input.argv);
  if (foreign !== undefined) return foreign;
  const read = readFlags(flagsOf(role), role, input);
  if (!read.ok) return read;
  const [unexpected] = read.value.positionals;
  if (unexpected !== undefined) return problem(`unexpected argument "${clip(unexpected)}"`);
  const values = read.value.values as FlagValuesOf<"standalone">;
  const logFormat = logFormatFor(values.logFormat, input.output ?? { isTerminal: false, hasColours: false });
  const settings = { ...values, logFormat } as unknown as SettingsOf<For>;
  const conflict =
    portConflict(settings as unknown as PortSettings) ??
    requestLogConflict(settings as unknown as Partial<RequestLogSettings>) ??
    tracingConflict(settings as unknown as Partial<TracingSettings>);
  if (conflict !== undefined) return problem(conflict);
  const warnings = unknownVariables(flags, input.env).map((name) => `${name}: unknown variable, ignored`);
  return ok({ settings, warnings });
}

/** Describes a flag of another role, which is more helpful than "unknown flag". */
function foreignFlag(role: Role, argv: readonly string[]): Result<never, Problem> | undefined {
  for (const word of argv) {
    if (word === "--") return undefined;
    const flag = (flags as readonly Flag[]).find(
      ({ name }) => word === `--${name}` || word.startsWith(`--${name}=`),
    );
    if (flag !== undefined && !flag.roles.includes(role))
      return problem(
        `--${flag.name}: not a flag of serve ${role}, only of serve ${flag.roles.join(" and serve ")}`,
      );
  }
  return undefined;
}

type RequestLogSettings = Pick<
  ProxySettings,
  "accessLogFormat" | "accessLogFields" | "accessLogConnections" | "requestIdHeader" | "requestIdTrustedCidrs"
>;

function requestLogConflict({
  accessLogFormat: format,
  accessLogFields: fields = [],
  accessLogConnections: hasConnections = false,
  requestIdHeader,
  requestIdTrustedCidrs: peers = [],
}: Partial<RequestLogSettings>): string | undefined {
  const isFixed = format === "common" || format === "combined";
  if (hasConnections && isFixed)
    return `--access-log-connections: --access-log-format ${format} has no lines for connections, expected json or console`;
  if (fields.length > 0 && isFixed)
    return `--access-log-fields: the fields of --access-log-format ${format} are fixed, expected json or console`;
  if (peers.length > 0 && requestIdHeader === undefined)
    return "--request-id-trusted-cidrs: requires --request-id-header";
  return undefined;
}

type TracingSettings = Pick<ProxySettings, "tracingEndpoint" | "tracingHeadersPath" | "tracingCaBundlePath">;

function tracingConflict({
  tracingEndpoint: endpoint,
  tracingHeadersPath,
  tracingCaBundlePath,
}: Partial<TracingSettings>): string | undefined {
  if (endpoint === undefined && (tracingHeadersPath ?? tracingCaBundlePath) !== undefined)
    return "--tracing-headers-path, --tracing-ca-bundle-path: require --tracing-endpoint";
  if (tracingCaBundlePath !== undefined && endpoint?.startsWith("http:") === true)
    return "--tracing-ca-bundle-path: requires a --tracing-endpoint with https";
  return undefined;
}
