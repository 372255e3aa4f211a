// Writes the generated parts of the Helm chart: the custom resource definitions, the admission policy, the roles of
// the controllers, dashboards and rules, flags and meanings in the schema, and the table of values in README.md. With
// --check it writes nothing and fails when a file differs from the generated text.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { format, resolveConfig } from "prettier";
import { annotations } from "../common/src/features/registry.ts";
import { admissionTemplate } from "./generate-chart-admission.ts";
import { chartCrds } from "./generate-chart-crds.ts";
import { rbacTemplate } from "./generate-chart-rbac.ts";
import { readmeWithValues } from "./generate-chart-readme.ts";
import { completeSchema } from "./generate-chart-schema.ts";
import { renderBoard, type Board } from "./monitoring/board.ts";
import { boards } from "./monitoring/boards/index.ts";
import { rulesFile } from "./monitoring/rules.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const schemaPath = "config/chart/values.schema.json";
const rulesPath = "config/chart/rules/svc-gateway.yaml";
const readmePath = "config/chart/README.md";
const crdFolder = "config/chart/files/crds";
const boardFolder = "config/chart/dashboards";

const crds = chartCrds();
const schema = completeSchema(read(schemaPath), read("config/chart/values.yaml"));
const files = new Map<string, string>([
  ...crds,
  ["config/chart/templates/admission-policy.yaml", admissionTemplate(annotations.values())],
  ["config/chart/templates/rbac.yaml", rbacTemplate()],
  ...(await Promise.all(boards.map(dashboard))),
  [rulesPath, await pretty(rulesPath, rulesFile())],
  [schemaPath, await pretty(schemaPath, JSON.stringify(schema))],
  [readmePath, await pretty(readmePath, readmeWithValues(read(readmePath), schema))],
]);

const isCheck = process.argv.includes("--check");
for (const [path, text] of files) {
  if (read(path) === text) continue;
  if (isCheck) {
    console.error(`${path} is out of date: run scripts/node scripts/generate-chart.ts`);
    process.exitCode = 1;
  } else {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    console.log(`wrote ${path}`);
  }
}
for (const path of [crdFolder, boardFolder].flatMap((folder) =>
  namesIn(folder).map((name) => `${folder}/${name}`),
)) {
  if (files.has(path)) continue;
  if (isCheck) {
    console.error(`${path} has no source: run scripts/node scripts/generate-chart.ts`);
    process.exitCode = 1;
  } else {
    rmSync(join(root, path));
    console.log(`removed ${path}`);
  }
}

/** Path and text of a dashboard. */
async function dashboard(board: Board): Promise<readonly [path: string, text: string]> {
  const path = `${boardFolder}/${board.uid}.json`;
  return [path, await pretty(path, renderBoard(board))];
}

/** The text of a file; empty if it does not exist. */
function read(path: string): string {
  try {
    return readFileSync(join(root, path), "utf8");
  } catch {
    return "";
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder));
  } catch {
    return [];
  }
}

async function pretty(path: string, text: string): Promise<string> {
  const filepath = join(root, path);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}
