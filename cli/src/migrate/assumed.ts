/** Assumes objects that manifests refer to but do not contain, so that settings that need them are still written. */
import { parseNamespacedName, type NamespacedName } from "@svc-gateway/common/values/namespaced-name.ts";
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { createSelfSigned } from "@svc-gateway/operator/discovery/self-signed.ts";
import { htpasswdLabel } from "@svc-gateway/operator/translate/credentials/htpasswd.ts";
import { createLookup, updateWorld, type World } from "@svc-gateway/operator/world.ts";

type Port = { readonly name?: string | undefined; readonly number?: number | undefined };

export type Assumed = {
  readonly world: World;
  /** Whether the port number of the endpoint set of this name was guessed. */
  readonly isGuessed: (endpoints: string) => boolean;
};

/**
 * Adds the Services, user lists and client authorities that the Ingresses of a world name. `prefix` is that of
 * annotations of ingress-nginx.
 */
export async function withAssumed(world: World, prefix: string, nowMs: number): Promise<Assumed> {
  const lookup = createLookup(world);
  const objects: KubeObject[] = [];
  const ports = new Map<string, Port[]>();
  let authority: string | undefined;
  for (const ingress of world.Ingress) {
    const { namespace, annotations = {} } = ingress.metadata;
    for (const [name, port] of backendsOf(ingress)) {
      if (lookup("Service", namespace, name) !== undefined) continue;
      const key = `${namespace}/${name}`;
      ports.set(key, [...(ports.get(key) ?? []), port]);
    }
    const secret = annotations[`${prefix}/auth-secret`];
    const [owner = "", name] = secret?.includes("/") === true ? secret.split("/") : [namespace, secret];
    if (name !== undefined && name !== "" && lookup("Secret", owner, name) === undefined) {
      objects.push(usersOf(owner, name));
    }
    const clients = parseNamespacedName(annotations[`${prefix}/auth-tls-secret`]?.trim() ?? "");
    if (clients.ok && lookup("Secret", clients.value.namespace, clients.value.name) === undefined) {
      authority ??= (await createAuthority(nowMs)).certificatePem;
      objects.push(authoritiesOf(clients.value, authority));
    }
  }
  const guessed = new Set<string>();
  for (const [key, named] of ports) objects.push(serviceOf(key, named, guessed));
  const completed = updateWorld(
    world,
    objects.map((object) => ({ type: "apply", object })),
  );
  return { world: completed, isGuessed: (endpoints) => guessed.has(endpoints) };
}

const backendsOf = ({ spec }: ObjectOf<"Ingress">): readonly (readonly [string, Port])[] =>
  [
    ...(spec?.defaultBackend ? [spec.defaultBackend] : []),
    ...(spec?.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ].flatMap(({ service }) => (service === undefined ? [] : [[service.name, service.port ?? {}] as const]));

/** Creates a Service. The numbers of named ports are not known and therefore guessed: the first free usual one. */
function serviceOf(key: string, named: readonly Port[], guessed: Set<string>): KubeObject {
  const [namespace = "", name = ""] = key.split("/");
  const unique = [...new Map(named.map((port) => [port.name ?? port.number, port])).values()];
  const taken = new Set(unique.map(({ number }) => number));
  const ports = unique.map(({ name: portName, number }, at) => {
    if (number !== undefined) return { name: portName ?? `p${number}`, port: number };
    const [free = 50_000 + at] = usualNumbers(portName ?? "").filter((one) => !taken.has(one));
    taken.add(free);
    guessed.add(`${key}/${free}`);
    return { name: portName ?? `p${free}`, port: free };
  });
  const object: ObjectOf<"Service"> = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name },
    spec: { ports },
  };
  return object;
}

const usualNumbers = (name: string): readonly number[] => (name.includes("https") ? [443, 8443] : [80, 8080]);

const yearMs = 365 * 24 * 60 * 60_000;

const createAuthority = (nowMs: number): ReturnType<typeof createSelfSigned> =>
  createSelfSigned("assumed", { notBeforeMs: nowMs - yearMs, notAfterMs: nowMs + yearMs }, []);

/** Creates a Secret with an authority that has issued no certificate. */
function authoritiesOf(name: NamespacedName, certificatePem: string): KubeObject {
  const object: ObjectOf<"Secret"> = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: name,
    type: "Opaque",
    data: { "ca.crt": Buffer.from(certificatePem).toString("base64") },
  };
  return object;
}

/** Creates a Secret with one user whom no password matches. */
function usersOf(namespace: string, name: string): KubeObject {
  const object: ObjectOf<"Secret"> = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name, labels: { [htpasswdLabel]: "true" } },
    type: "Opaque",
    data: { auth: Buffer.from(`user:$2y$12$${"a".repeat(53)}`).toString("base64") },
  };
  return object;
}
