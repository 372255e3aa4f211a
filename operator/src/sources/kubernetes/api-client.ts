import type { RequestOptions } from "node:https";
import { createInterface } from "node:readline";
import { KubeConfig } from "@kubernetes/client-node";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { Agent, type Dispatcher, request } from "undici";
import { fail, ok, type Result } from "@svc-gateway/common/values/result.ts";

/**
 * The reason why a call failed. `status` is the HTTP status, or 0 if no response was received. `retryAfterMs` is the
 * server's Retry-After.
 */
export type ApiError = {
  readonly status: number;
  /** The `reason` of the Status object, such as `Expired`, `Conflict` or `AlreadyExists`. */
  readonly reason: string;
  readonly message: string;
  readonly retryAfterMs?: number;
};

export type PatchType = "merge" | "apply" | "json";

export type ApiRequest = {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly patch?: PatchType;
  readonly signal?: AbortSignal;
  /** The media type of the response, a form of JSON; `application/json` by default. */
  readonly accept?: string;
  /** The time limit of the whole call in milliseconds; `defaultTimeoutMs` by default. */
  readonly timeoutMs?: number;
};

/**
 * Plain calls to the API server over one connection pool. Objects are not converted to classes: with ten thousand
 * objects that would cost more than everything else.
 */
export type ApiClient = {
  call<T>(path: string, options?: ApiRequest): Promise<Result<T, ApiError>>;
  /** Reads at most the first `maxBytes` of a response that is not JSON, such as a log. */
  readText(path: string, options: TextRequest): Promise<Result<string, ApiError>>;
  /**
   * Opens a watch and passes on each line, parsed. Succeeds when the server closes the watch, and fails with the error
   * that ended it, or if nothing arrives for `idleTimeoutMs`.
   */
  watch(path: string, options: WatchRequest): Promise<Result<void, ApiError>>;
  close(): Promise<void>;
};

export type TextRequest = Pick<ApiRequest, "query" | "signal" | "timeoutMs"> & { readonly maxBytes: number };

export type WatchRequest = {
  readonly query: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Called when the server has accepted the watch; events follow as they occur. */
  readonly onOpen?: () => void;
  readonly onEvent: (event: unknown) => void;
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
};

const contentTypes: { readonly [P in PatchType]: string } = {
  merge: "application/merge-patch+json",
  apply: "application/apply-patch+yaml",
  json: "application/json-patch+json",
};

const defaultTimeoutMs = 30_000;

/** The largest size of an object or list; no kind that is read here comes near it. */
const maxResponseBytes = 512 * 1024 * 1024;

/**
 * Loads the configuration in the order of client-node: `KUBECONFIG`, the home folder, the service account of the pod.
 */
export function loadKubeConfig(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
}

/**
 * The limit for opening a connection. An unreachable API server can drop packets, and the operating system retries the
 * connection at growing intervals; a new attempt detects sooner that the server is back.
 */
const connectTimeoutLimitMs = 3_000;

/**
 * The idle time after which TCP keep-alive starts. It detects a server that vanished without closing its connections
 * even on watches, which can be silent for a minute.
 */
const keepAliveInitialDelayMs = 10_000;

/** The largest number of connections: one for each watch, of which there are about fifty, and the rest for calls. */
const maxConnections = 128;

/**
 * Creates a client. `connectTimeoutMs` limits the time for a connection including its TLS handshake, in milliseconds.
 */
export async function createApiClient(
  config: KubeConfig,
  { connectTimeoutMs = connectTimeoutLimitMs }: { readonly connectTimeoutMs?: number } = {},
): Promise<ApiClient> {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error("the kubeconfig has no current cluster");
  if (cluster.proxyUrl !== undefined) {
    throw new Error(
      `the cluster "${cluster.name}" of the kubeconfig sets "proxy-url", expected an API server that is reached directly: proxies are not supported`,
    );
  }
  const { ca, cert, key, rejectUnauthorized, servername } = await securityOf(config);
  const connect = Object.fromEntries(
    Object.entries({ ca, cert, key, rejectUnauthorized, servername }).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const agent = new Agent({
    connect: { ...connect, timeout: connectTimeoutMs, keepAliveInitialDelay: keepAliveInitialDelayMs },
    // With one HTTP/2 connection, calls waiting for it would exceed their time limit, and all watches would end with
    // it.
    allowH2: false,
    connections: maxConnections,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

  const send = async (path: string, options: ApiRequest, signal: AbortSignal) => {
    // Read for every request: a service account token is replaced in its file long before the process ends.
    const { headers } = await securityOf(config);
    const type = options.patch === undefined ? "application/json" : contentTypes[options.patch];
    const answer = request(`${cluster.server}${path}${queryOf(options.query)}`, {
      method: options.method ?? "GET",
      headers: {
        accept: options.accept ?? "application/json",
        ...(options.body === undefined ? undefined : { "content-type": type }),
        ...(headers as Record<string, string> | undefined),
      },
      body: options.body === undefined ? null : JSON.stringify(options.body),
      dispatcher: agent,
      signal,
    });
    return unlessAborted(answer, signal);
  };

  return {
    async call<T>(path: string, options: ApiRequest = {}) {
      try {
        const response = await send(path, options, limitOf(options));
        if (response.statusCode >= 400) return fail(await errorOf(response));
        const length = Number(response.headers["content-length"] ?? 0);
        if (length > maxResponseBytes) {
          response.body.destroy();
          return fail(noAnswer(`the response of ${length} bytes is larger than 512 MiB`));
        }
        return ok((await response.body.json()) as T);
      } catch (error) {
        return fail(noAnswer(error));
      }
    },
    async readText(path, { maxBytes, ...options }) {
      try {
        const response = await send(path, options, limitOf(options));
        if (response.statusCode >= 400) return fail(await errorOf(response));
        const chunks: Buffer[] = [];
        let bytes = 0;
        // Leaving the loop aborts the response.
        for await (const chunk of response.body as AsyncIterable<Buffer>) {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes >= maxBytes) break;
        }
        return ok(Buffer.concat(chunks).subarray(0, maxBytes).toString("utf8"));
      } catch (error) {
        return fail(noAnswer(error));
      }
    },
    async watch(path, { query, onOpen, onEvent, signal, idleTimeoutMs }) {
      const own = new AbortController();
      const both = AbortSignal.any([signal, own.signal]);
      let timer = setTimeout(() => own.abort(), idleTimeoutMs);
      const touch = (): void => {
        clearTimeout(timer);
        timer = setTimeout(() => own.abort(), idleTimeoutMs);
      };
      try {
        const response = await send(path, { query: { ...query, watch: true } }, both);
        if (response.statusCode >= 400) return fail(await errorOf(response));
        onOpen?.();
        for await (const line of createInterface({ input: response.body, crlfDelay: Infinity })) {
          touch();
          if (line !== "") onEvent(JSON.parse(line));
        }
        return ok(undefined);
      } catch (error) {
        return fail(noAnswer(own.signal.aborted ? `nothing arrived for ${idleTimeoutMs} ms` : error));
      } finally {
        clearTimeout(timer);
        own.abort();
      }
    },
    close: () => agent.destroy(),
  };
}

/** A signal that aborts at the time limit of a call, or when its caller aborts. */
function limitOf({
  timeoutMs = defaultTimeoutMs,
  signal,
}: Pick<ApiRequest, "timeoutMs" | "signal">): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

/** Stops waiting when the signal aborts: a call that waits for a connection of the pool does not check its signal. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

async function securityOf(config: KubeConfig): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  return options;
}

function queryOf(query: ApiRequest["query"] = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${new URLSearchParams(Object.fromEntries(given.map(([name, value]) => [name, String(value)]))).toString()}`;
}

async function errorOf(response: Dispatcher.ResponseData): Promise<ApiError> {
  const status = response.statusCode;
  const retryAfter = Number(response.headers["retry-after"]);
  const wait = Number.isFinite(retryAfter) && retryAfter > 0 ? { retryAfterMs: retryAfter * 1000 } : {};
  try {
    const { reason = "", message = "" } = (await response.body.json()) as {
      reason?: string;
      message?: string;
    };
    return { status, reason, message, ...wait };
  } catch {
    return { status, reason: "", message: `HTTP ${status}`, ...wait };
  }
}

function noAnswer(error: unknown): ApiError {
  const message = textOf(error);
  return { status: 0, reason: "NoAnswer", message };
}

/** An error of the API server in one line, such as `HTTP 403: Forbidden: ...`. */
export const describeApiError = ({ status, reason, message }: ApiError): string =>
  [status === 0 ? "" : `HTTP ${status}`, reason, message].filter((part) => part !== "").join(": ");
