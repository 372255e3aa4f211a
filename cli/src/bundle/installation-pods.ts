/** Reads the pods of controllers and proxies, with their logs and metrics. */
import type { ReadOnlyClient } from "../live/connect.ts";
import { podProxyPath } from "../status/proxies.ts";
import { describeStart, type StartedContainer } from "./container-words.ts";
import { gapOf, type Entry, type Gap } from "./entry.ts";
import { linesOfLog } from "./log-lines.ts";
import type { WithheldTexts } from "./withheld-texts.ts";

type ContainerStatus = {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly image?: string;
  readonly imageID?: string;
  readonly state?: States;
  readonly lastState?: States;
};
type States = Readonly<
  Record<
    string,
    {
      readonly reason?: string;
      readonly exitCode?: number;
      readonly startedAt?: string;
      readonly finishedAt?: string;
    }
  >
>;
type Port = { readonly name?: string; readonly containerPort?: number };
type Container = StartedContainer & {
  readonly name: string;
  readonly image?: string;
  readonly resources?: object;
  readonly ports?: readonly Port[];
};
export type InstallationPod = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: { readonly nodeName?: string; readonly containers: readonly Container[] };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
    }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
};

/** The label that the chart and the controllers set on every pod. */
const podLabel = "app.kubernetes.io/name=svc";
const maxNamespaces = 20;
const maxPods = 40;
/** The limits of one log. */
const maxLogLines = 5000;
const maxLogBytes = 2 * 1024 * 1024;
/** The limit of the metrics of one pod. */
const maxMetricsBytes = 8 * 1024 * 1024;
const adminPort = 8082;

/** Lists the pods of these namespaces, in the order of the namespaces. */
export async function listPods(
  client: ReadOnlyClient,
  namespaces: readonly string[],
): Promise<{ readonly pods: readonly InstallationPod[]; readonly gaps: readonly Gap[] }> {
  const pods: InstallationPod[] = [];
  const gaps: Gap[] = [];
  for (const namespace of namespaces.slice(0, maxNamespaces)) {
    const listed = await client.call<{ readonly items?: readonly InstallationPod[] }>(
      `/api/v1/namespaces/${namespace}/pods`,
      { query: { labelSelector: podLabel, limit: maxPods } },
    );
    if (listed.ok) pods.push(...(listed.value.items ?? []));
    else gaps.push(gapOf(`pods of namespace ${namespace}`, listed.error));
  }
  const more = pods.length - maxPods;
  if (more > 0) gaps.push({ what: `${more} further pods`, why: `at most ${maxPods} are read` });
  if (namespaces.length > maxNamespaces) {
    gaps.push({ what: "proxies of further namespaces", why: `at most ${maxNamespaces} namespaces are read` });
  }
  return { pods: pods.slice(0, maxPods), gaps };
}

/** Describes a pod and its state: flags, resources, states of its containers. */
export function describePod({ metadata, spec, status }: InstallationPod, withheld: WithheldTexts): object {
  const { name, namespace, labels, creationTimestamp, deletionTimestamp } = metadata;
  for (const text of [name, spec.nodeName ?? ""]) withheld.keep(text);
  return {
    name,
    namespace,
    labels,
    creationTimestamp,
    deletionTimestamp,
    node: spec.nodeName,
    phase: status?.phase,
    conditions: (status?.conditions ?? []).map(({ type, status: value, reason }) => ({
      type,
      status: value,
      reason,
    })),
    containers: spec.containers.map((container) => ({
      name: container.name,
      image: container.image,
      resources: container.resources,
      ...describeStart(container, withheld),
      ...statusOf(container.name, status?.containerStatuses ?? []),
    })),
  };
}

function statusOf(container: string, statuses: readonly ContainerStatus[]): object {
  const found = statuses.find(({ name }) => name === container);
  if (found === undefined) return {};
  const { ready, restartCount, imageID, state, lastState } = found;
  return { ready, restartCount, imageID, state: statesOf(state), lastState: statesOf(lastState) };
}

/** Copies states without their messages, which can be the last output of a container. */
const statesOf = (states: States = {}): States =>
  Object.fromEntries(
    Object.entries(states).map(([name, { reason, exitCode, startedAt, finishedAt }]) => [
      name,
      {
        ...(reason !== undefined && { reason }),
        ...(exitCode !== undefined && { exitCode }),
        ...(startedAt !== undefined && { startedAt }),
        ...(finishedAt !== undefined && { finishedAt }),
      },
    ]),
  );

/** Reads the logs and metrics of a pod. Call it when all withheld texts are known. */
export async function readPod(
  client: ReadOnlyClient,
  { metadata: { namespace, name }, spec, status }: InstallationPod,
  withheld: WithheldTexts,
): Promise<{ readonly entries: readonly Entry[]; readonly gaps: readonly Gap[] }> {
  const entries: Entry[] = [];
  const gaps: Gap[] = [];
  const take = async (
    file: string,
    path: string,
    query: Readonly<Record<string, string | number | boolean>>,
    maxBytes: number,
    form: (text: string) => string,
  ): Promise<void> => {
    const read = await client.readText(path, { query, maxBytes });
    if (read.ok) entries.push({ file, text: form(read.value) });
    else gaps.push(gapOf(file, read.error));
  };
  const log = `/api/v1/namespaces/${namespace}/pods/${name}/log`;
  for (const { name: container } of spec.containers) {
    const limits = { container, tailLines: maxLogLines, limitBytes: maxLogBytes };
    const file = `logs/${namespace}/${name}.${container}`;
    const form = (text: string): string => linesOfLog(text, withheld);
    await take(`${file}.log`, log, limits, maxLogBytes, form);
    const restarts = status?.containerStatuses?.find((one) => one.name === container)?.restartCount ?? 0;
    if (restarts > 0)
      await take(`${file}.previous.log`, log, { ...limits, previous: true }, maxLogBytes, form);
  }
  const port = spec.containers.flatMap(({ ports = [] }) => ports).find((one) => one.name === "admin");
  const metrics = podProxyPath(namespace, name, port?.containerPort ?? adminPort, "/metrics");
  await take(`metrics/${namespace}/${name}.txt`, metrics, {}, maxMetricsBytes, (text) => text);
  return { entries, gaps };
}
