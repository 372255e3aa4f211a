/** An Ingress of the class `nginx` with one path, and these annotations. */
export const shopIngress = (annotations: Readonly<Record<string, string>> = {}): object => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "shop", namespace: "shop", annotations },
  spec: {
    ingressClassName: "nginx",
    rules: [
      {
        host: "shop.example",
        http: {
          paths: [
            { path: "/", pathType: "Prefix", backend: { service: { name: "shop", port: { number: 80 } } } },
          ],
        },
      },
    ],
  },
});
