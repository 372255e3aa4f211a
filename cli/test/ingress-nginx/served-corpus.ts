/** The whole corpus behind one gateway, unchanged or as a migration writes it. */
import { joinDocuments } from "../../src/migrate/manifest-texts.ts";
import type { MigrationReport } from "../../src/migrate/migration-report.ts";
import type { Target } from "../../src/migrate/target.ts";
import { withGateway } from "../standalone/gateway.ts";
import type { Answer, Ports } from "./ask.ts";
import type { Aspects } from "./agreement.ts";
import { startBackends } from "./backends.ts";
import type { CorpusCase } from "./cases.ts";
import { clusterObjects, nginxFlags } from "./cluster.ts";
import { migrateText, ownClasses } from "./migrated.ts";

/**
 * Runs the body with a gateway that serves all cases with their own backends. The manifests are first migrated to
 * `target`, and then served without a flag of ingress-nginx; if it is undefined, they are served unchanged.
 */
export async function withCorpus(
  corpus: readonly CorpusCase[],
  target: Target | undefined,
  body: (ports: Ports, report: MigrationReport | undefined) => Promise<void>,
): Promise<void> {
  const backends = await Promise.all(corpus.map(startBackends));
  try {
    const objects = [
      ...clusterObjects,
      ...(target === undefined ? [] : ownClasses),
      ...backends.flatMap((one) => one.objects),
    ];
    const text = joinDocuments([
      ...objects.map((object) => `${JSON.stringify(object)}\n`),
      ...corpus.map(({ manifests }) => manifests),
    ]);
    const migrated = target && (await migrateText(text, nginxFlags, target));
    await withGateway(
      { manifests: { "all.yaml": migrated?.text ?? text }, flags: migrated === undefined ? nginxFlags : [] },
      (gateway) => body(gateway, migrated?.report),
    );
  } finally {
    await Promise.all(backends.map((one) => one.close()));
  }
}

/** Fields that differ in each answer, that only describe its transfer, or that repeat the name of the Service. */
const volatile = new Set([
  "date",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "echo-backend",
]);

/** The aspects of an answer that are compared. Texts that are generated for each request are replaced by their form. */
export function aspectsOf({ status, from, seen, fields }: Answer): Aspects {
  return {
    answer: String(status),
    ...(from !== undefined && { backends: from }),
    ...(seen && { target: seen.path }),
    ...fieldAspects("field", seen?.fields ?? {}),
    ...fieldAspects("response", fields),
  };
}

const fieldAspects = (kind: string, fields: Answer["fields"]): Aspects =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || volatile.has(name) ? [] : [[`${kind} ${name}`, inForm(String(value))]],
    ),
  );

const inForm = (value: string): string =>
  value.replaceAll(/\b[0-9a-f]{32}\b/g, "<32 hex digits>").replaceAll(/Expires=[^;]+/g, "Expires=<time>");
