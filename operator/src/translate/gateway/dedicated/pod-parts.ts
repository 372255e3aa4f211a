/** Names within the pod of dedicated proxies. See docs/dedicated-gateways.md, "Pods". */

export const proxyContainer = "proxy";
export const secretsPath = "/var/run/secrets/svc";
/** The ConfigMap with the certificate authorities of the discovery channel, and its key. */
export const trustConfigMap = "svc-discovery-trust";
export const trustBundleKey = "ca.crt";
/** Ports that every proxy pod reserves for itself. Listeners cannot use them. */
export const podPorts = { health: 8081, admin: 8082 } as const;

export const tokenVolume = "discovery-token";
export const trustVolume = "trust-bundle";
export const renderedVolumes: ReadonlySet<string> = new Set([tokenVolume, trustVolume]);
