/** The backends of an Ingress's paths as written, for `$service_name` and `$service_port`. */
import type { ObjectOf } from "../../api/kinds.ts";
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
export function backendsOf({ spec }: Ingress): readonly PathBackend[] {
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
  if (isDefaultBackend) return read(spec?.defaultBackend);
  const isOfHost = (name: string | undefined): boolean =>
    (name ?? "").toLowerCase() === (host.kind === "any" ? "" : host.host);
  const paths =
    spec?.rules?.filter((rule) => isOfHost(rule.host)).flatMap(({ http }) => http?.paths ?? []) ?? [];
  const exact = paths.find((one) => (one.path || "/") === written && one.pathType === pathType);
  return read(exact?.backend ?? paths.find((one) => (one.path || "/") === written)?.backend);
}
