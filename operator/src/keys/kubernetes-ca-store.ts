import { isDeepStrictEqual } from "node:util";
import type { Logger } from "@svc-gateway/common/telemetry/logger.ts";
import { ok, problem, type Result } from "@svc-gateway/common/values/result.ts";
import type { CaContent, CaStore } from "../discovery/ca-store.ts";
import { type ApiClient, type ApiError, describeApiError } from "../sources/kubernetes/api-client.ts";
import { createOutageLog } from "../sources/kubernetes/outage-log.ts";
import { runReflector } from "../sources/kubernetes/reflector.ts";
import { fieldManager } from "../write/status-writer.ts";

export type KubernetesCaStoreOptions = {
  readonly client: ApiClient;
  /** The namespace in which the controllers are installed. */
  readonly namespace: string;
  /** The name of the Secret of the certificate authority. */
  readonly secret: string;
  readonly log: Logger;
};

/** The ConfigMap from which proxies read the roots that they trust, under the key `ca.crt`. */
export const trustConfigMap = "svc-discovery-trust";

type Secret = {
  readonly metadata: { readonly resourceVersion?: string };
  readonly data?: Readonly<Record<string, string>>;
};
type ConfigMap = { readonly data?: Readonly<Record<string, string>> };

const certificateKey = "tls.crt";
const privateKeyKey = "tls.key";
const retiredKey = "retired-roots.crt";
const bundleKey = "ca.crt";
const labels = { "app.kubernetes.io/name": "svc", "app.kubernetes.io/managed-by": "svc" };

/**
 * Stores the certificate authority of the discovery channel in a Secret, and its public part in a ConfigMap, both in
 * the install namespace (docs/discovery.md, "Certificate authority"). The Secret is not of type `kubernetes.io/tls`, so
 * that no Ingress or Gateway can serve it.
 */
export function createKubernetesCaStore(options: KubernetesCaStoreOptions): CaStore {
  const { client, namespace, secret, log } = options;
  const secrets = `/api/v1/namespaces/${namespace}/secrets`;
  const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;

  const readSecret = async (): Promise<Result<Secret | undefined>> =>
    optional(await client.call(`${secrets}/${secret}`));

  return {
    async read() {
      const found = await readSecret();
      return found.ok ? ok(contentOf(found.value)) : found;
    },

    async write(content, expected) {
      const found = await readSecret();
      if (!found.ok) return found;
      if (!isDeepStrictEqual(contentOf(found.value), expected)) return ok("conflict");
      const data = dataOf(content);
      const sent =
        found.value === undefined
          ? await client.call(secrets, {
              method: "POST",
              query: { fieldManager },
              body: { ...manifest("Secret", secret), type: "Opaque", data: withoutNull(data) },
            })
          : await client.call(`${secrets}/${secret}`, {
              method: "PATCH",
              patch: "merge",
              query: { fieldManager },
              body: { metadata: { resourceVersion: found.value.metadata.resourceVersion }, data },
            });
      if (sent.ok) return ok("written");
      return sent.error.status === 409 ? ok("conflict") : problem(describeApiError(sent.error));
    },

    async publishTrust(bundlePem) {
      const found = optional(await client.call<ConfigMap>(`${configMaps}/${trustConfigMap}`));
      if (!found.ok) return found;
      if (found.value?.data?.[bundleKey] === bundlePem) return ok(undefined);
      const data = { [bundleKey]: bundlePem };
      const sent =
        found.value === undefined
          ? await client.call(configMaps, {
              method: "POST",
              query: { fieldManager },
              body: { ...manifest("ConfigMap", trustConfigMap), data },
            })
          : await client.call(`${configMaps}/${trustConfigMap}`, {
              method: "PATCH",
              patch: "merge",
              query: { fieldManager },
              body: { data },
            });
      return sent.ok ? ok(undefined) : problem(describeApiError(sent.error));
    },

    watch(onChange) {
      const stop = new AbortController();
      const follow = (kind: string, path: string, name: string): Promise<void> => {
        const outage = createOutageLog(log, "watch", { kind, name });
        return runReflector({
          client,
          path,
          apiVersion: "v1",
          kind,
          fieldSelector: `metadata.name=${name}`,
          signal: stop.signal,
          events: {
            onList() {
              outage.works();
              onChange();
            },
            onOpen: outage.works,
            onApply: onChange,
            onDelete: onChange,
            onRestart: () => {},
            onError: (error) => outage.failed({ error: describeApiError(error) }),
          },
        });
      };
      const reportBug = (error: unknown): void =>
        log.error({ err: error }, "certificate authority watch ended unexpectedly");
      void follow("Secret", secrets, secret).catch(reportBug);
      void follow("ConfigMap", configMaps, trustConfigMap).catch(reportBug);
      return () => stop.abort();
    },
  };
}

/**
 * Reads the content of a Secret. A Secret without certificate and key counts as missing: an administrator has created
 * it to be filled.
 */
function contentOf(secret: Secret | undefined): CaContent | undefined {
  const { [certificateKey]: certificate, [privateKeyKey]: key, [retiredKey]: retired } = secret?.data ?? {};
  if (!certificate && !key) return undefined;
  return {
    certificatePem: decode(certificate),
    privateKeyPem: decode(key),
    retiredPem: decode(retired),
  };
}

const dataOf = (content: CaContent): Readonly<Record<string, string | null>> => ({
  [certificateKey]: encode(content.certificatePem),
  [privateKeyKey]: encode(content.privateKeyPem),
  [retiredKey]: content.retiredPem === "" ? null : encode(content.retiredPem),
});

const withoutNull = (data: Readonly<Record<string, string | null>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(data).flatMap(([name, text]) => (text === null ? [] : [[name, text]])));

const manifest = (kind: string, name: string): object => ({
  apiVersion: "v1",
  kind,
  metadata: { name, labels },
});

const encode = (text: string): string => Buffer.from(text, "utf8").toString("base64");
const decode = (base64: string = ""): string => Buffer.from(base64, "base64").toString("utf8");

/** Converts a response; an object that does not exist is undefined and not an error. */
function optional<T>(answer: Result<T, ApiError>): Result<T | undefined> {
  if (answer.ok) return answer;
  return answer.error.status === 404 ? ok(undefined) : problem(describeApiError(answer.error));
}
