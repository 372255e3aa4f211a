/** Replaces Secrets that objects name but the user may not read, so that the rest is translated as in the cluster. */
import { createSelfSigned } from "@svc-gateway/operator/discovery/self-signed.ts";
import { alternativeNames } from "@svc-gateway/operator/discovery/certificate-builder.ts";
import type { KubeObject } from "@svc-gateway/operator/api/object.ts";
import { kindOf } from "@svc-gateway/operator/api/kinds.ts";
import { secretNamesIn } from "@svc-gateway/operator/sources/kubernetes/secret-names.ts";

export type AssumeOptions = {
  /** Whether Secrets of this namespace could not be read. */
  readonly isUnread: (namespace: string) => boolean;
  /** Whether the Secret `namespace/name` was read. */
  readonly isKnown: (name: string) => boolean;
  readonly nowMs: number;
};

/** The maximum number of names in one certificate; further hosts get findings, because they are not covered. */
const maxHosts = 100;
const lifetimeMs = 365 * 24 * 60 * 60_000;
const objectName = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
/** Values of annotations with `tls` or `auth` in their names that are not names of Secrets. */
const noNames: ReadonlySet<string> = new Set(["true", "false", "on", "off", "basic", "digest", "optional"]);

/**
 * Creates the Secrets that these objects name and that were not read. Each is usable for every purpose, with a
 * self-signed certificate, one user with an unknown password, and the labels that permit its use.
 */
export async function assumeSecrets(
  objects: readonly KubeObject[],
  { isUnread, isKnown, nowMs }: AssumeOptions,
): Promise<readonly KubeObject[]> {
  const hostsOf = new Map<string, Set<string>>();
  const names = new Set<string>();
  for (const object of objects) {
    const kind = kindOf(object.apiVersion, object.kind);
    if (kind === undefined) continue;
    for (const name of secretNamesIn(kind, object)) names.add(name);
    for (const { name, hosts } of certificatesOf(object)) {
      const known = hostsOf.get(name) ?? new Set();
      hostsOf.set(name, known);
      for (const host of hosts) if (known.size < maxHosts) known.add(host);
    }
  }
  const assumed: KubeObject[] = [];
  for (const key of new Set([...names, ...hostsOf.keys()])) {
    const [namespace = "", name = ""] = key.split("/");
    const isName = objectName.test(name) && objectName.test(namespace) && !noNames.has(name);
    if (!isName || !isUnread(namespace) || isKnown(key)) continue;
    assumed.push(await secretOf(namespace, name, { hosts: hostsOf.get(key), nowMs }));
  }
  return assumed;
}

type Named = { readonly name: string; readonly hosts: readonly string[] };
type Reference = { readonly kind?: string; readonly namespace?: string; readonly name?: string };

/** The certificates that an Ingress, Gateway or ListenerSet serves, with their hosts. */
function certificatesOf({ metadata, ...body }: KubeObject): readonly Named[] {
  const { spec = {} } = body as {
    readonly spec?: {
      readonly tls?: unknown;
      readonly listeners?: readonly {
        readonly hostname?: string;
        readonly tls?: { readonly certificateRefs?: readonly Reference[] };
      }[];
    };
  };
  const own = metadata.namespace ?? "";
  const ofIngress = Array.isArray(spec.tls)
    ? (spec.tls as readonly { readonly secretName?: string; readonly hosts?: readonly string[] }[])
    : [];
  return [
    ...ofIngress.flatMap(({ secretName, hosts = [] }) =>
      secretName === undefined || secretName === "" ? [] : [{ name: `${own}/${secretName}`, hosts }],
    ),
    ...(spec.listeners ?? []).flatMap(({ hostname, tls }) =>
      (tls?.certificateRefs ?? []).flatMap(({ kind = "Secret", namespace = own, name }) =>
        kind !== "Secret" || name === undefined
          ? []
          : [{ name: `${namespace}/${name}`, hosts: hostname === undefined ? [] : [hostname] }],
      ),
    ),
  ];
}

/** Creates a Secret, of type `kubernetes.io/tls` if it is served as a certificate. */
async function secretOf(
  namespace: string,
  name: string,
  { hosts, nowMs }: { readonly hosts: ReadonlySet<string> | undefined; readonly nowMs: number },
): Promise<KubeObject> {
  const { certificatePem, privateKeyPem } = await createSelfSigned(
    "assumed",
    { notBeforeMs: nowMs - lifetimeMs, notAfterMs: nowMs + lifetimeMs },
    [alternativeNames([], hosts === undefined || hosts.size === 0 ? ["assumed.invalid"] : [...hosts])],
  );
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      namespace,
      name,
      labels: { "ingress.svc-labs.dev/auth-basic": "true", "ingress.svc-labs.dev/auth-tls": "true" },
    },
    type: hosts === undefined ? "Opaque" : "kubernetes.io/tls",
    data: {
      "tls.crt": base64(certificatePem),
      "tls.key": base64(privateKeyPem),
      "ca.crt": base64(certificatePem),
      auth: base64(`assumed:$2y$12$${"a".repeat(53)}`),
    },
  } as KubeObject;
}
