/** The ports that `make run` prints: those of the gateway that it starts, which environment variables can change. */
import { readStandaloneSettings, type StandaloneSettings } from "../common/src/settings/settings.ts";

export type RunPorts = {
  /** The port for Ingresses; undefined if they are not served, or at a free port that only the log shows. */
  readonly http: number | undefined;
  readonly https: number | undefined;
  readonly admin: number | undefined;
  readonly health: number | undefined;
  /** The address of the admin and health ports. */
  readonly management: string;
};

/** The ports of a run; undefined if the variables are invalid, which the gateway itself reports. */
export function portsOfRun(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): RunPorts | undefined {
  const read = readStandaloneSettings({ argv: ["--manifests", folder], env });
  if (!read.ok) return undefined;
  const { settings } = read.value;
  const { ingressHttpPort, ingressHttpsPort, adminPort, healthPort, managementBindAddress } = settings;
  return {
    http: localPortOf(settings, ingressHttpPort),
    https: localPortOf(settings, ingressHttpsPort),
    admin: known(adminPort),
    health: known(healthPort),
    management: isEverywhere(managementBindAddress) ? "127.0.0.1" : managementBindAddress,
  };
}

const known = (port: number): number | undefined => (port === 0 ? undefined : port);

function localPortOf({ disableIngress, portMap }: StandaloneSettings, port: number): number | undefined {
  if (disableIngress || port === 0) return undefined;
  return known(portMap.find(({ listenerPort }) => listenerPort === port)?.localPort ?? port);
}

const isEverywhere = (address: string | undefined): address is undefined =>
  address === undefined || address === "::" || address === "0.0.0.0";

/** Such as `on ports 8080 (HTTP) and 8443 (HTTPS)`; unknown ports are omitted. */
export function describeRunPorts({ http, https }: Pick<RunPorts, "http" | "https">): string {
  const ports = [
    ...(http === undefined ? [] : [`${http} (HTTP)`]),
    ...(https === undefined ? [] : [`${https} (HTTPS)`]),
  ];
  if (ports.length === 0) return 'on the ports of the log, "listener added"';
  return `on ${ports.length === 1 ? "port" : "ports"} ${ports.join(" and ")}`;
}
