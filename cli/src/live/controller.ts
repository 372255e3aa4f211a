/** Finds the controllers of a cluster: where they run, and the settings that result from their flags. */
import { readControllerSettings, type ControllerSettings } from "@svc-gateway/common/settings/settings.ts";
import { fail, ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import { describeApiError } from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import type { ReadOnlyClient } from "./connect.ts";

export type LiveController = {
  readonly namespace: string;
  /** The name of the Deployment. */
  readonly name: string;
  readonly image: string;
  /** The numbers of wanted and of ready pods. */
  readonly replicas: { readonly wanted: number; readonly ready: number };
  readonly settings: ControllerSettings;
  /** One sentence for each setting that cannot be read. */
  readonly notes: readonly string[];
};

type EnvVar = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath?: string } };
};
type Container = {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly object[];
};
type Deployment = {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly template: { readonly spec: { readonly containers: readonly Container[] } };
  };
  readonly status?: { readonly readyReplicas?: number };
};

/** The labels that the chart sets on the Deployment. */
export const controllerLabels = "app.kubernetes.io/name=svc,app.kubernetes.io/component=controller";

/**
 * Finds the controllers by their labels, in one namespace or in all of them. `given` are flags of the command line, by
 * name, which replace those of the Deployment.
 */
export async function findController(
  client: ReadOnlyClient,
  namespace: string | undefined,
  given: ReadonlyMap<string, string>,
): Promise<Result<LiveController>> {
  const scope = namespace === undefined ? "" : `namespaces/${namespace}/`;
  const listed = await client.call<{ readonly items?: readonly Deployment[] }>(
    `/apis/apps/v1/${scope}deployments`,
    { query: { labelSelector: controllerLabels } },
  );
  const where = namespace === undefined ? "" : ` in namespace ${namespace}`;
  if (!listed.ok) {
    return listed.error.status === 403
      ? problem(
          `this user may not list deployments.apps${where}: the flags of the controllers are read there`,
        )
      : problem(`the Deployments of the cluster cannot be listed: ${describeApiError(listed.error)}`);
  }
  const [found, other] = listed.value.items ?? [];
  if (found === undefined) {
    return problem(
      `there are no controllers${where}: expected a Deployment with the labels ${controllerLabels}`,
    );
  }
  if (other !== undefined) {
    const names = (listed.value.items ?? []).map(({ metadata }) => metadata.namespace);
    return problem(
      `there are controllers in the namespaces ${names.join(", ")}: choose one with --namespace`,
    );
  }
  return readDeployment(found, given);
}

function readDeployment(
  { metadata, spec, status }: Deployment,
  given: ReadonlyMap<string, string>,
): Result<LiveController> {
  const named = `Deployment ${metadata.namespace}/${metadata.name}`;
  const container = spec.template.spec.containers.find((one) => wordsAfterServe(one) !== undefined);
  const words = container && wordsAfterServe(container);
  if (container === undefined || words === undefined) {
    return problem(`${named} has no container that is started with "serve controller"`);
  }
  const { env, notes } = readEnvironment(container, metadata, named);
  const kept = words.filter((word) => !given.has(nameOfFlag(word)));
  const overrides = [...given].map(([name, text]) => `--${name}=${text}`);
  const read = readControllerSettings({ argv: [...kept, ...overrides], env });
  if (!read.ok) return fail({ message: `the flags of ${named} cannot be read: ${read.error.message}` });
  return ok({
    namespace: metadata.namespace,
    name: metadata.name,
    image: container.image ?? "",
    replicas: { wanted: spec.replicas ?? 1, ready: status?.readyReplicas ?? 0 },
    settings: read.value.settings,
    notes,
  });
}

function wordsAfterServe({ command = [], args = [] }: Container): readonly string[] | undefined {
  const words = [...command, ...args];
  const at = words.findIndex((word, index) => word === "serve" && words[index + 1] === "controller");
  return at === -1 ? undefined : words.slice(at + 2);
}

const nameOfFlag = (word: string): string => /^--([a-z0-9-]+)/.exec(word)?.[1] ?? "";

/** Reads the variables whose values are visible from outside; those from ConfigMaps and Secrets are not read. */
function readEnvironment(
  { env = [], envFrom = [] }: Container,
  { namespace, name }: Deployment["metadata"],
  named: string,
): { readonly env: Readonly<Record<string, string>>; readonly notes: readonly string[] } {
  const fields: Readonly<Record<string, string>> = { "metadata.namespace": namespace, "metadata.name": name };
  const known: Record<string, string> = {};
  const unknown: string[] = [];
  for (const { name: variable, value, valueFrom } of env) {
    const text = valueFrom === undefined ? (value ?? "") : fields[valueFrom.fieldRef?.fieldPath ?? ""];
    if (text !== undefined) known[variable] = text;
    else if (variable.startsWith("SVC_")) unknown.push(variable);
  }
  const notes = unknown.map(
    (variable) => `${variable} of ${named} is set by reference and not read: its default is assumed`,
  );
  const ofAll = `envFrom of ${named} is not read: settings that it makes have their defaults`;
  return { env: known, notes: envFrom.length === 0 ? notes : [...notes, ofAll] };
}
