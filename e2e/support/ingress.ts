import { noteAnnotations } from "./covers.ts";

export type PathOptions = {
  readonly path?: string;
  readonly pathType?: "Prefix" | "Exact" | "ImplementationSpecific";
  readonly service: string;
  /** The name of the Service port, `http` by default. */
  readonly port?: string;
};

export type IngressOptions = {
  readonly name: string;
  readonly host: string;
  readonly paths: readonly PathOptions[];
  /** Annotations without their prefix. */
  readonly annotations?: Readonly<Record<string, string>>;
  readonly tlsSecret?: string;
  readonly className?: string;
};

const prefix = "ingress.svc-labs.dev/";

/** An Ingress with one host. */
export function ingress(options: IngressOptions): object {
  const { name, host, paths, annotations = {}, tlsSecret, className = "svc" } = options;
  noteAnnotations(Object.keys(annotations));
  const prefixed = Object.entries(annotations).map(([key, value]) => [`${prefix}${key}`, value]);
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, annotations: Object.fromEntries(prefixed) as Record<string, string> },
    spec: {
      ingressClassName: className,
      ...(tlsSecret !== undefined && { tls: [{ hosts: [host], secretName: tlsSecret }] }),
      rules: [
        {
          host,
          http: {
            paths: paths.map(({ path = "/", pathType = "Prefix", service, port = "http" }) => ({
              path,
              pathType,
              backend: { service: { name: service, port: { name: port } } },
            })),
          },
        },
      ],
    },
  };
}
