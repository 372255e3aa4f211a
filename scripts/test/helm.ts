/** Renders the chart with the Helm of the test cluster, if it is available. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";

export const chartFolder = fileURLToPath(new URL("../../config/chart/", import.meta.url));

/** The path of Helm; undefined without one. `make e2e` has its own Helm and renders the same. */
export const helm = [process.env["HELM"] ?? "", join(homedir(), ".cache/e2e-cluster/bin/helm")].find(
  existsSync,
);

export type Container = {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly [field: string]: unknown;
};

export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly rules?: readonly {
    readonly apiGroups?: readonly string[];
    readonly resources?: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly spec?: {
    readonly template?: {
      readonly metadata: Manifest["metadata"];
      readonly spec: { readonly containers: readonly Container[]; readonly [field: string]: unknown };
    };
    readonly [field: string]: unknown;
  };
  readonly data?: Readonly<Record<string, string>>;
};

function run(
  command: readonly string[],
  values: readonly string[],
  { more = [], chart = chartFolder }: { readonly more?: readonly string[]; readonly chart?: string } = {},
): { readonly failed: boolean; readonly text: string } {
  const set = values.flatMap((value) => ["--set-json", value]);
  const args = [...command, "x", chart, "--namespace", "svc-system", ...more, ...set];
  const { status, stdout, stderr } = spawnSync(helm ?? "", args, { encoding: "utf8" });
  return { failed: status !== 0, text: status === 0 ? stdout : stderr };
}

/** The manifests of the chart, or of another folder, with values as `path=JSON`. */
export function render(
  values: readonly string[] = [],
  more: readonly string[] = [],
  chart: string = chartFolder,
): readonly Manifest[] {
  const { failed, text } = run(["template"], values, { more, chart });
  if (failed) throw new Error(text);
  return parseAllDocuments(text).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

/** The message of Helm about values that the chart rejects; empty when it accepts them. */
export function refusal(...values: readonly string[]): string {
  const { failed, text } = run(["template"], values);
  return failed ? text : "";
}

/** The notes that Helm prints after an installation with these values. */
export function notes(...values: readonly string[]): string {
  const { failed, text } = run(["install", "--dry-run=client"], values);
  if (failed) throw new Error(text);
  return text.slice(text.indexOf("\nNOTES:\n") + 1);
}

/** The only manifest of a kind with this name. */
export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.filter((one) => one.kind === kind && one.metadata.name === name);
  if (found.length !== 1 || found[0] === undefined)
    throw new Error(`${found.length} objects ${kind} ${name}`);
  return found[0];
}

/** The pod of a workload. */
export function podOf({ spec, metadata }: Manifest): NonNullable<NonNullable<Manifest["spec"]>["template"]> {
  if (spec?.template === undefined) throw new Error(`${metadata.name} has no pod template`);
  return spec.template;
}

/** The first container of a workload's pod. */
export function containerOf(manifest: Manifest): Container {
  const [container] = podOf(manifest).spec.containers;
  if (container === undefined) throw new Error(`${manifest.metadata.name} has no container`);
  return container;
}
