/**
 * The flags that the chart takes, by role, in its schema: a flag that does not exist fails the installation and not the
 * pods.
 */
import { flags } from "../common/src/settings/flags.ts";
import type { Flag, Role } from "../common/src/settings/flag.ts";

/**
 * Flags that the chart sets itself, because its manifests repeat them: the ports of the containers, the names of
 * Services, the paths of mounts.
 */
const ownFlags: ReadonlySet<string> = new Set([
  "admin-auth",
  "admin-port",
  "dedicated",
  "disable-dedicated-gateways",
  "discovery-bootstrap-endpoint",
  "discovery-bootstrap-port",
  "discovery-ca-bundle-path",
  "discovery-endpoint",
  "discovery-port",
  "discovery-sa-token-path",
  "discovery-service",
  "gateway-name",
  "gateway-namespace",
  "health-port",
  "log",
  "log-format",
  "pod-name",
  "pod-namespace",
  "read-namespace",
  "shared",
  "shared-proxy-service-account",
]);

export const chartFlags = (role: Role): readonly string[] =>
  flags
    .filter((flag: Flag) => flag.roles.includes(role) && !ownFlags.has(flag.name))
    .map(({ name }) => name)
    .sort();

type Schema = { readonly definitions: Readonly<Record<string, unknown>> };

const flagMap = (role: Role): object => ({
  type: "object",
  propertyNames: { enum: chartFlags(role) },
  additionalProperties: { type: ["string", "number", "boolean"] },
});

/** The schema with the present flags in it. */
export function schemaWithFlags(text: string): string {
  const schema = JSON.parse(text) as Schema;
  const definitions = {
    ...schema.definitions,
    controllerFlags: flagMap("controller"),
    proxyFlags: flagMap("proxy"),
  };
  return JSON.stringify({ ...schema, definitions });
}
