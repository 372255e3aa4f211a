/**
 * The labels and annotations that a Gateway requests for the objects that are created for it. See
 * docs/gateway-api.md, "Objects of a Gateway".
 */
import type { ObjectOf } from "../../api/kinds.ts";

type Texts = Readonly<Record<string, string>>;

export type InfrastructureMetadata = {
  readonly labels: Texts | undefined;
  readonly annotations: Texts | undefined;
  /** The paths of omitted entries, such as `infrastructure.annotations[…]`. */
  readonly ignored: readonly string[];
};

/** The metadata that `spec.infrastructure` adds, without annotations that would weaken a pod. */
export function infrastructureOf({ spec }: ObjectOf<"Gateway">): InfrastructureMetadata {
  const { labels, annotations } = spec.infrastructure ?? {};
  if (annotations === undefined) return { labels, annotations, ignored: [] };
  const { kept, ignored } = withoutRuntimeAnnotations(annotations, "infrastructure.annotations");
  return { labels, annotations: kept, ignored };
}

/**
 * Prefixes of annotation keys that select the security profile of a container (AppArmor before Kubernetes 1.30,
 * seccomp before 1.27) or configure a container runtime (CRI-O, crun, Kata Containers, gVisor). Such
 * annotations could override what the security contexts set.
 */
const runtimePrefixes = [
  "container.apparmor.security.beta.kubernetes.io/",
  "container.seccomp.security.alpha.kubernetes.io/",
  "seccomp.security.alpha.kubernetes.io/",
  "io.kubernetes.cri-o.",
  "io.katacontainers.",
  "dev.gvisor.",
  "run.oci.",
] as const;

/** Removes annotations that configure a container runtime; `path` is their field. */
export function withoutRuntimeAnnotations(
  annotations: Texts,
  path: string,
): { readonly kept: Texts; readonly ignored: readonly string[] } {
  const isRuntime = (key: string): boolean => runtimePrefixes.some((prefix) => key.startsWith(prefix));
  const entries = Object.entries(annotations);
  if (!entries.some(([key]) => isRuntime(key))) return { kept: annotations, ignored: [] };
  return {
    kept: Object.fromEntries(entries.filter(([key]) => !isRuntime(key))),
    ignored: entries.flatMap(([key]) => (isRuntime(key) ? [`${path}[${key}]`] : [])),
  };
}
