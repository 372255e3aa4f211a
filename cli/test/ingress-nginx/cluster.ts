/** The objects of the cluster of the corpus besides the corpus itself. */

const ingressClass = {
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name: "nginx" },
  spec: { controller: "k8s.io/ingress-nginx" },
};

/** Clusters with snippets have allowed both. */
const configMap = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "controller", namespace: "ingress-nginx" },
  data: { "allow-snippet-annotations": "true", "annotations-risk-level": "Critical" },
};

/** The flags of a gateway that reads its Ingresses as ingress-nginx reads them. */
export const nginxFlags = [
  "--ingress-nginx-classes",
  "nginx",
  "--ingress-nginx-configmap",
  "ingress-nginx/controller",
];

export const clusterObjects: readonly object[] = [ingressClass, configMap];
