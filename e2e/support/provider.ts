/** The test cluster, as provided by e2e/cluster/provider: kind, or local without Docker. */
import { delimiter, join, resolve } from "node:path";
import { mustRun, run, type Ran, type RunOptions } from "./run-program.ts";

/** The root of the work tree. */
export const root = resolve(import.meta.dirname, "../..");

const program = join(root, "e2e/cluster/provider");
const minuteMs = 60_000;
/** A cold build on two cores takes ten minutes. */
const buildTimeoutMs = 40 * minuteMs;

/** Runs a command of the provider; throws when it fails. */
export const provider = (...args: readonly string[]): Promise<string> =>
  mustRun(program, args).then((text) => text.trim());

/** Runs a command of the provider, shows its output, and allows time to compile a cluster. */
export const showProvider = (...args: readonly string[]): Promise<string> =>
  mustRun(program, args, { isShown: true, timeoutMs: buildTimeoutMs });

/** The name of the provider, `kind` or `local`. */
export const providerName = (): Promise<string> => provider("name");

export const isClusterUp = async (): Promise<boolean> => (await run(program, ["status"])).status === 0;

/** Environment in which kubectl and helm are the programs of the cluster and use it. It is requested once. */
export function clusterEnvironment(): Promise<Readonly<Record<string, string>>> {
  environment ??= readEnvironment();
  return environment;
}

let environment: Promise<Readonly<Record<string, string>>> | undefined;

async function readEnvironment(): Promise<Readonly<Record<string, string>>> {
  const [kubeconfig, bin] = await Promise.all([provider("kubeconfig"), provider("bin")]);
  const path = [bin, process.env["PATH"] ?? ""].filter((part) => part !== "").join(delimiter);
  return { KUBECONFIG: kubeconfig, PATH: path };
}

export const kubectl = async (args: readonly string[], options: RunOptions = {}): Promise<string> =>
  mustRun("kubectl", args, { ...options, env: await clusterEnvironment() });

export const tryKubectl = async (args: readonly string[], options: RunOptions = {}): Promise<Ran> =>
  run("kubectl", args, { ...options, env: await clusterEnvironment() });

export const helm = async (args: readonly string[], options: RunOptions = {}): Promise<string> =>
  mustRun("helm", args, { ...options, env: await clusterEnvironment() });
