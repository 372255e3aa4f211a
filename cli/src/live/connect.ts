/** Connects to the API server of a kubeconfig, for reading only. */
import { delimiter } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import {
  createApiClient,
  type ApiClient,
  type ApiError,
  type ApiRequest,
} from "@svc-gateway/operator/sources/kubernetes/api-client.ts";
import type { Io } from "../command.ts";

/** A client for requests that change nothing: it cannot send methods other than GET. */
export type ReadOnlyClient = {
  call<T>(
    path: string,
    options?: Pick<ApiRequest, "query" | "signal" | "timeoutMs">,
  ): Promise<Result<T, ApiError>>;
  readText: ApiClient["readText"];
};

/** A connected cluster. Callers must `close` it. */
export type LiveCluster = {
  readonly client: ReadOnlyClient;
  /** The name of the context; `server` is the address of its API server. */
  readonly context: string;
  readonly server: string;
  readonly config: KubeConfig;
  close(): Promise<void>;
};

export type ConnectOptions = {
  /** The file; if undefined, those of KUBECONFIG, else `~/.kube/config`, else the configuration of the pod. */
  readonly kubeconfig: string | undefined;
  /** The context; if undefined, the current one of the kubeconfig. */
  readonly context: string | undefined;
};

/** The connect timeout, for API servers that can be far away. */
const connectTimeoutMs = 10_000;
/** The server that client-node assumes when it finds no configuration; it is not an API server. */
const assumedServer = "http://localhost:8080";

/** Reads the kubeconfig; sends no request yet. The problem is one line for the user. */
export async function connectCluster(
  { kubeconfig, context }: ConnectOptions,
  { env }: Pick<Io, "env">,
): Promise<Result<LiveCluster>> {
  try {
    const config = loadConfig(kubeconfig ?? env["KUBECONFIG"]);
    if (context !== undefined) {
      const names = config.getContexts().map(({ name }) => name);
      if (!names.includes(context)) {
        return problem(
          `--context: the kubeconfig has no context "${context}", expected one of ${names.join(", ")}`,
        );
      }
      config.setCurrentContext(context);
    }
    const server = config.getCurrentCluster()?.server;
    if (server === undefined || server === assumedServer) {
      return problem("no cluster: set --kubeconfig, KUBECONFIG or a current context");
    }
    const client = await createApiClient(config, { connectTimeoutMs });
    return ok({
      client: onlyReading(client),
      context: config.getCurrentContext(),
      server,
      config,
      close: client.close,
    });
  } catch (error) {
    return problem(`the kubeconfig cannot be used: ${textOf(error)}`);
  }
}

/** Loads and merges files. The first file that has a value wins, as in kubectl. */
function loadConfig(paths: string | undefined): KubeConfig {
  const config = new KubeConfig();
  const files = paths?.split(delimiter).filter((path) => path !== "") ?? [];
  const [first, ...others] = files;
  if (first === undefined) {
    config.loadFromDefault();
    return config;
  }
  config.loadFromFile(first);
  for (const path of others) {
    const other = new KubeConfig();
    other.loadFromFile(path);
    config.mergeConfig(other, true);
  }
  return config;
}

const onlyReading = (client: ApiClient): ReadOnlyClient => ({
  call: (path, { query, signal, timeoutMs } = {}) =>
    client.call(path, {
      ...(query !== undefined && { query }),
      ...(signal !== undefined && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    }),
  readText: client.readText,
});
