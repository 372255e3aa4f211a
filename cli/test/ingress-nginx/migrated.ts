/** Manifests of ingress-nginx as a migration writes them. */
import { Readable } from "node:stream";
import { readFolderFlags, translationFlags, type FolderSettings } from "../../src/command-flags.ts";
import { annotationsTarget } from "../../src/migrate/annotations-target.ts";
import { gatewayTarget } from "../../src/migrate/gateway/gateway-target.ts";
import { joinDocuments } from "../../src/migrate/manifest-texts.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { createMigrationReport, type MigrationReport } from "../../src/migrate/migration-report.ts";
import type { Target } from "../../src/migrate/target.ts";
import { readFolder } from "../../src/translate-folder.ts";

/** The time of all translations. */
export const nowMs = Date.UTC(2026, 0);
const controllerName = "svc-labs.dev/gateway-controller";

/** The classes as the chart installs them. */
export const ownClasses: readonly object[] = [
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "svc" },
    spec: { controller: controllerName },
  },
  {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "GatewayClass",
    metadata: { name: "svc" },
    spec: { controllerName },
  },
];

export const targets: Readonly<Record<string, Target>> = {
  annotations: annotationsTarget("svc", controllerName),
  "gateway-api": gatewayTarget({
    gateway: { namespace: "svc-system", name: "public" },
    isGiven: false,
    gatewayClass: "svc",
    controllerName,
  }),
};

/** The settings of a translation with these flags, whose listeners are the usual ports. */
export function settingsOf(flags: readonly string[]): FolderSettings {
  const argv = ["--port-map", "80=80,443=443", ...flags];
  const read = readFolderFlags(translationFlags, { argv, env: {} });
  if (!read.ok) throw new Error(read.error.message);
  return read.value.settings;
}

export const inputOf = (text: string) => ({ input: (): Readable => Readable.from([text]) });

/** Migrates a text, as which the flags are those of before. */
export async function migrateText(
  text: string,
  flags: readonly string[],
  target: Target,
): Promise<{ readonly text: string; readonly report: MigrationReport }> {
  const folder = await readFolder(["-"], inputOf(text));
  if (!folder.ok) throw new Error("the manifests cannot be read");
  const migration = await migrate(folder.value, target, { settings: settingsOf(flags), nowMs });
  const report = await createMigrationReport(folder.value, migration, []);
  return { text: joinDocuments([...migration.files.values()]), report };
}
