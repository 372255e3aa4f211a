/** The input of `report` and `migrate`: folders and files, or a live cluster. */
import { choiceType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag } from "@svc-gateway/common/settings/flag.ts";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";
import { problemOfPaths } from "../command-flags.ts";
import { misused, refused, type CommandResult, type Io } from "../command.ts";
import { readFolder, type ReadFolder } from "../translate-folder.ts";
import { connectCluster } from "./connect.ts";
import { namingCluster } from "./live-flags.ts";
import { readCluster } from "./read-cluster.ts";

export const inputFlags = [
  flag({
    name: "from",
    type: choiceType(["files", "cluster"]),
    roles: ["standalone"],
    defaultValue: "files",
    meaning: "What is read: the files that are named, or a live cluster, in which nothing is changed.",
  }),
  ...namingCluster(
    "; implies `--from cluster`",
    "The only namespace of the cluster that is read.",
    "all namespaces",
  ),
];

export type InputSettings = {
  readonly from: "files" | "cluster";
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
  readonly disableIngress: boolean;
  readonly disableGatewayApi: boolean;
};

/** Reads the input of a command; the error is the result of the command. */
export async function readInput(
  command: string,
  paths: readonly string[],
  settings: InputSettings,
  io: Pick<Io, "input" | "err" | "env">,
): Promise<Result<ReadFolder, CommandResult>> {
  const { from, kubeconfig, context, namespace } = settings;
  const isLive = from === "cluster" || kubeconfig !== undefined || context !== undefined;
  if (!isLive) {
    if (namespace !== undefined) return fail(misused("--namespace is for --from cluster"));
    const problem = problemOfPaths(command, paths);
    if (problem !== undefined) return fail(misused(problem));
    const folder = await readFolder(paths, io);
    return folder.ok ? folder : fail(refused(...folder.error));
  }
  if (paths.length > 0) return fail(misused(`${command}: expected no path with --from cluster`));
  return readLive(settings, io);
}

async function readLive(
  settings: InputSettings,
  io: Pick<Io, "err" | "env">,
): Promise<Result<ReadFolder, CommandResult>> {
  const cluster = await connectCluster(settings, io);
  if (!cluster.ok) return fail(misused(cluster.error.message));
  const { namespace, disableIngress, disableGatewayApi } = settings;
  try {
    const folder = await readCluster(cluster.value, {
      namespaces: namespace === undefined ? undefined : [namespace],
      disableIngress,
      disableGatewayApi,
      readsPlainSecrets: true,
      nowMs: Date.now(),
      signal: new AbortController().signal,
    });
    if (!folder.ok) return fail(refused(...folder.error));
    for (const note of folder.value.notes) io.err.write(`svc-gateway: ${note}\n`);
    return ok({ ...folder.value, isContext: (file) => !isIngress(file) });
  } finally {
    await cluster.value.close();
  }
}

/** Whether a file, named `namespace/plural/name.yaml`, contains an Ingress. */
const isIngress = (file: string): boolean => file.split("/")[1] === "ingresses";
