/** Valid manifests that tests change in one place. */
export type Manifest = { [key: string]: unknown };

export const manifest = (
  apiVersion: string,
  kind: string,
  body: Manifest,
  metadata: Manifest = {},
): Manifest => ({
  apiVersion,
  kind,
  metadata: { name: "sample", namespace: "shop", ...metadata },
  ...body,
});

export const ours = (kind: string, spec: unknown): Manifest =>
  manifest(`${kind === "SvcIngressClassParameters" ? "ingress" : "gateway"}.svc-labs.dev/v1alpha1`, kind, {
    spec,
  });

export const ingress = (spec: unknown, metadata: Manifest = {}): Manifest =>
  manifest("networking.k8s.io/v1", "Ingress", { spec }, metadata);

/** An Ingress with one rule and one path, changed by the arguments. */
export const ingressWith = (change: {
  rule?: Manifest;
  path?: Manifest;
  spec?: Manifest;
  metadata?: Manifest;
}): Manifest =>
  ingress(
    {
      ingressClassName: "svc",
      rules: [
        {
          host: "shop.example.com",
          http: {
            paths: [
              {
                path: "/",
                pathType: "Prefix",
                backend: { service: { name: "web", port: { number: 80 } } },
                ...change.path,
              },
            ],
          },
          ...change.rule,
        },
      ],
      ...change.spec,
    },
    change.metadata,
  );

export const gatewayKind = (kind: string, spec: unknown, version = "v1"): Manifest =>
  manifest(`gateway.networking.k8s.io/${version}`, kind, { spec });
