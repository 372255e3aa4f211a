/** The backends of an Ingress's paths as written, for `$service_name` and `$service_port`. */
import type { ObjectOf } from "../../api/kinds.ts";
import { memo } from "../incremental/memo.ts";
import type { NginxPath } from "./groups/group.ts";

/** The name of the Service, and the number or name of its port; empty if the path has none. */
export type PathBackend = { readonly name: string; readonly port: string };

type Ingress = ObjectOf<"Ingress">;
type Written = NonNullable<NonNullable<Ingress["spec"]>["defaultBackend"]>;

const noBackend: PathBackend = { name: "", port: "" };

function read(backend: Written | undefined): PathBackend {
  const { name = "", port } = backend?.service ?? {};
  return { name, port: String(port?.name ?? port?.number ?? "") };
}

/** All backends of the Ingress, without duplicates. */
export function backendsOf({ spec }: Pick<Ingress, "spec">): readonly PathBackend[] {
  const paths = spec?.rules?.flatMap(({ http }) => http?.paths ?? []) ?? [];
  const all = [...paths.map(({ backend }) => backend), spec?.defaultBackend].filter(
    (one) => one !== undefined,
  );
  const found = new Map(all.map(read).map((one) => [`${one.name}/${one.port}`, one]));
  return found.size === 0 ? [noBackend] : [...found.values()];
}

/** The backend of one path. */
export function backendOfPath(
  { spec }: Ingress,
  { host, written, pathType, isDefaultBackend }: NginxPath,
): PathBackend {
  if (spec === undefined || isDefaultBackend) return read(spec?.defaultBackend);
  const name = host.kind === "any" ? "" : host.host;
  const backends = backendsByPath(spec);
  return backends.get(keyOf(name, written, pathType)) ?? backends.get(keyOf(name, written)) ?? noBackend;
}

/** The backends by host and path, with and without its type: the first of several. Equal ones are the same object. */
const backendsByPath = memo((spec: NonNullable<Ingress["spec"]>): ReadonlyMap<string, PathBackend> => {
  const backends = new Map<string, PathBackend>();
  const shared = new Map(backendsOf({ spec }).map((one) => [`${one.name}/${one.port}`, one]));
  for (const { host = "", http } of spec.rules ?? []) {
    for (const { path, pathType, backend } of http?.paths ?? []) {
      const written = path || "/";
      const { name, port } = read(backend);
      const one = shared.get(`${name}/${port}`) ?? noBackend;
      for (const key of [keyOf(host.toLowerCase(), written, pathType), keyOf(host.toLowerCase(), written)])
        if (!backends.has(key)) backends.set(key, one);
    }
  }
  return backends;
});

const keyOf = (host: string, path: string, pathType = ""): string => `${host} ${pathType} ${path}`;
