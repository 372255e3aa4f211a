/**
 * Generates the typed API of the operator from schemas.
 *
 *   scripts/node scripts/generate-api.ts            from crds/ and operator/src/api/schemas/, writes
 *                                                   schemas/ of our kinds, generated/ of all kinds and the reference
 *   scripts/node scripts/generate-api.ts --check    the same without writing; exit 1 when a committed file differs
 *   scripts/node scripts/generate-api.ts --fetch    first reads the schemas of Gateway API and Kubernetes again, from
 *                                                   the Go modules named in generate-api-fetch.ts (Go and network)
 *
 * Everything it writes is committed, so that a build needs none of this.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { parse } from "yaml";
import type { KindDefinition } from "../operator/src/api/schema.ts";
import { docsOf } from "./generate-api-docs.ts";
import { fetchDefinitions, gatewayApiVersion, kubernetesVersion } from "./generate-api-fetch.ts";
import type { Crd, PublishedSchema } from "./generate-api-reduce.ts";
import { definitionOfCrd } from "./generate-api-reduce.ts";
import { indexOf, typesOf } from "./generate-api-types.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const crdFolder = join(root, "crds");
const schemaFolder = "operator/src/api/schemas";
const typeFolder = "operator/src/api/generated";
const reference = "docs/reference/api.md";

const ownCrds: readonly Crd[] = readdirSync(crdFolder)
  .filter((file) => file.endsWith(".yaml"))
  .toSorted()
  .map((file) => parse(readFileSync(join(crdFolder, file), "utf8")) as Crd);

/** The committed definitions of the kinds of other projects. */
function committedDefinitions(): readonly KindDefinition[] {
  const ours = new Set(ownCrds.map((crd) => crd.spec.names.kind.toLowerCase()));
  return readdirSync(join(root, schemaFolder))
    .filter((file) => file.endsWith(".json") && !ours.has(file.slice(0, -".json".length)))
    .map((file) => JSON.parse(readFileSync(join(root, schemaFolder, file), "utf8")) as KindDefinition);
}

/** The first sentence of a field's description in a CRD, by the dotted path that generate-api-types.ts uses. */
function describer(crd: Crd): (path: string) => string | undefined {
  const schema = crd.spec.versions[0]?.schema.openAPIV3Schema;
  return (path) => {
    let at: PublishedSchema | undefined = schema;
    for (const step of path.replaceAll("[]", ".[]").replaceAll("{}", ".{}").split(".")) {
      if (step === "" || at === undefined) continue;
      if (step === "[]") at = at.items;
      else if (step === "{}")
        at = typeof at.additionalProperties === "object" ? at.additionalProperties : undefined;
      else at = at.properties?.[step];
    }
    return at?.description?.match(/^.*?[.](?= |$)/)?.[0] ?? at?.description;
  };
}

/** Every file this script owns: path from the root → text. */
async function outputs(others: readonly KindDefinition[]): Promise<ReadonlyMap<string, string>> {
  const ours = ownCrds.map((crd) => ({ definition: definitionOfCrd(crd), describe: describer(crd) }));
  const all = [...ours, ...others.map((definition) => ({ definition, describe: () => undefined }))].toSorted(
    (a, b) => (a.definition.kind < b.definition.kind ? -1 : 1),
  );
  const files = new Map<string, string>();
  for (const { definition, describe } of all) {
    const name = definition.kind.toLowerCase();
    files.set(`${schemaFolder}/${name}.json`, `${JSON.stringify(definition)}\n`);
    files.set(`${typeFolder}/${name}.ts`, await pretty(typesOf(definition, describe)));
  }
  const definitions = all.map(({ definition }) => definition);
  const versions = { gatewayApi: gatewayApiVersion, kubernetes: kubernetesVersion };
  files.set(`${typeFolder}/index.ts`, await pretty(indexOf(definitions)));
  files.set(reference, `${docsOf(ownCrds, definitions, versions)}\n`);
  return files;
}

const pretty = (text: string): Promise<string> => format(text, { parser: "typescript", printWidth: 110 });

function write(files: ReadonlyMap<string, string>): void {
  for (const folder of [schemaFolder, typeFolder])
    rmSync(join(root, folder), { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Paths whose committed text differs from what would be written, and files that are no longer generated. */
function differences(files: ReadonlyMap<string, string>): readonly string[] {
  const present = [schemaFolder, typeFolder].flatMap((folder) =>
    readdirSync(join(root, folder)).map((file) => `${folder}/${file}`),
  );
  return [...new Set([...files.keys(), ...present])].filter(
    (path) => !existsSync(join(root, path)) || files.get(path) !== readFileSync(join(root, path), "utf8"),
  );
}

const flags = process.argv.slice(2);
const files = await outputs(flags.includes("--fetch") ? fetchDefinitions() : committedDefinitions());
if (flags.includes("--check")) {
  const different = differences(files);
  for (const path of different) console.error(`${path}: differs; run scripts/node scripts/generate-api.ts`);
  process.exitCode = different.length > 0 ? 1 : 0;
} else {
  write(files);
}
