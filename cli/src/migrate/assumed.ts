/** Objects that manifests refer to and do not hold: they are assumed, so that what they are for is written all the same. */
import type { ObjectOf } from "@svc-gateway/operator/api/kinds.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { htpasswdLabel } from "@svc-gateway/operator/translate/credentials/htpasswd.ts";
import { createLookup, updateWorld, type World } from "@svc-gateway/operator/world.ts";

type Port = { readonly name?: string | undefined; readonly number?: number | undefined };

/** The world with the Services and user lists that its Ingresses name. `prefix`: that of the annotations of ingress-nginx. */
export function withAssumed(world: World, prefix: string): World {
  const lookup = createLookup(world);
  const objects: KubeObject[] = [];
  const ports = new Map<string, Port[]>();
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
  }
  for (const [key, named] of ports) objects.push(serviceOf(key, named));
  return updateWorld(
    world,
    objects.map((object) => ({ type: "apply", object })),
  );
}

const backendsOf = ({ spec }: ObjectOf<"Ingress">): readonly (readonly [string, Port])[] =>
  [
    ...(spec?.defaultBackend ? [spec.defaultBackend] : []),
    ...(spec?.rules ?? []).flatMap(({ http }) => (http?.paths ?? []).map(({ backend }) => backend)),
  ].flatMap(({ service }) => (service === undefined ? [] : [[service.name, service.port ?? {}] as const]));

/** Numbers of named ports are not known; those that are given are left free. */
function serviceOf(key: string, named: readonly Port[]): KubeObject {
  const [namespace = "", name = ""] = key.split("/");
  const unique = [...new Map(named.map((port) => [port.name ?? port.number, port])).values()];
  const ports = unique.map(({ name: portName, number }, at) => ({
    name: portName ?? `p${number ?? 80}`,
    port: number ?? 50_000 + at,
  }));
  const object: ObjectOf<"Service"> = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { namespace, name },
    spec: { ports },
  };
  return object;
}

/** One user whom no password lets in. */
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
