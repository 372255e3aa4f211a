/** Direct calls to the API server of the test cluster, for frequent requests for which kubectl would be too slow. */
import { readFileSync } from "node:fs";
import { request, Agent } from "node:https";
import { parse } from "yaml";
import { clusterEnvironment } from "./provider.ts";

export type Answer = { readonly status: number; readonly text: string };

type Kubeconfig = {
  readonly clusters: readonly {
    readonly cluster: { readonly server: string; readonly "certificate-authority-data": string };
  }[];
  readonly users: readonly {
    readonly user: { readonly "client-certificate-data": string; readonly "client-key-data": string };
  }[];
};

type Connection = { readonly server: string; readonly agent: Agent };

const callTimeoutMs = 20_000;

let connection: Promise<Connection> | undefined;

async function connect(): Promise<Connection> {
  const { KUBECONFIG: path = "" } = await clusterEnvironment();
  const { clusters, users } = parse(readFileSync(path, "utf8")) as Kubeconfig;
  const [cluster, user] = [clusters[0]?.cluster, users[0]?.user];
  if (cluster === undefined || user === undefined) throw new Error(`${path} names no cluster and user`);
  const decode = (text: string): Buffer => Buffer.from(text, "base64");
  const agent = new Agent({
    keepAlive: true,
    ca: decode(cluster["certificate-authority-data"]),
    cert: decode(user["client-certificate-data"]),
    key: decode(user["client-key-data"]),
  });
  return { server: cluster.server, agent };
}

export type CallOptions = {
  /** APPLY creates or changes an object (server-side apply). */
  readonly method?: "GET" | "POST" | "PATCH" | "APPLY" | "DELETE";
  /** The body, sent as JSON; with PATCH as a merge patch (RFC 7396). */
  readonly body?: object;
};

const bodyTypes: ReadonlyMap<string, string> = new Map([
  ["PATCH", "application/merge-patch+json"],
  ["APPLY", "application/apply-patch+yaml"],
]);

/** Sends one request and returns its response with any status. Rejects only without a response. */
export async function call(path: string, { method = "GET", body }: CallOptions = {}): Promise<Answer> {
  const { server, agent } = await (connection ??= connect());
  const isApply = method === "APPLY";
  const query = isApply ? "?fieldManager=e2e&force=true" : "";
  const type = bodyTypes.get(method) ?? "application/json";
  return new Promise((settle, reject) => {
    const sent = request(`${server}${path}${query}`, {
      method: isApply ? "PATCH" : method,
      agent,
      timeout: callTimeoutMs,
      headers: { accept: "application/json", ...(body !== undefined && { "content-type": type }) },
    });
    sent.once("timeout", () => sent.destroy(new Error(`no response within ${callTimeoutMs} ms`)));
    sent.once("error", reject);
    sent.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.once("end", () => settle({ status: response.statusCode ?? 0, text }));
      response.once("error", reject);
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The response as an object of a kind that the caller knows; rejects when the call was refused. */
export async function ask<T>(path: string, options: CallOptions = {}): Promise<T> {
  const { status, text } = await call(path, options);
  if (status >= 400) throw new Error(`${options.method ?? "GET"} ${path}: ${status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

/** Reads an object; undefined if it does not exist. */
export async function find<T>(path: string): Promise<T | undefined> {
  const { status, text } = await call(path);
  if (status === 404) return undefined;
  if (status >= 400) throw new Error(`GET ${path}: ${status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as T;
}

/** Sends a request to a port of a pod through the API server, and returns the response. */
export const askPod = (pod: PodPort, path: string): Promise<Answer> =>
  call(`/api/v1/namespaces/${pod.namespace}/pods/${pod.name}:${pod.port}/proxy${path}`);

export type PodPort = { readonly namespace: string; readonly name: string; readonly port: number };

/** Closes idle connections, so that the process can end. */
export async function closeApi(): Promise<void> {
  const open = connection;
  connection = undefined;
  (await open?.catch(() => undefined))?.agent.destroy();
}
