/** The flags of commands that read a live cluster. */
import {
  contextNameType,
  namespaceType,
  pathType,
  switchType,
} from "@svc-gateway/common/settings/flag-types.ts";
import { flag, optionalFlag } from "@svc-gateway/common/settings/flag.ts";

/** The choice of the cluster to read, and of the installation in it. */
export type ClusterChoice = {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly namespace: string | undefined;
};

export const liveFlag = flag({
  name: "live",
  type: switchType,
  roles: ["standalone"],
  defaultValue: false,
  meaning: "Read the objects of a cluster, and the flags of its controllers, instead of manifests.",
});

/** The flags that name a cluster. `implied` is appended to the first two meanings; `ofNamespace` is the third. */
export const namingCluster = (implied: string, ofNamespace: string, noNamespace: string) =>
  [
    optionalFlag({
      name: "kubeconfig",
      type: pathType,
      roles: ["standalone"],
      shownDefault: "KUBECONFIG, else ~/.kube/config",
      meaning: `Kubeconfig file of the cluster${implied}.`,
    }),
    optionalFlag({
      name: "context",
      type: contextNameType,
      roles: ["standalone"],
      shownDefault: "the current context",
      meaning: `Context of the kubeconfig${implied}.`,
    }),
    optionalFlag({
      name: "namespace",
      short: "n",
      type: namespaceType,
      roles: ["standalone"],
      shownDefault: noNamespace,
      meaning: ofNamespace,
    }),
  ] as const;

export const clusterFlags = namingCluster(
  "",
  "Namespace of the controllers, where a cluster has several installations.",
  "any",
);
