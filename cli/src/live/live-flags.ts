/** The flags of commands that read a live cluster. */
import { namespaceType, pathType, switchType, wordType } from "@svc-gateway/common/settings/flag-types.ts";
import { flag, optionalFlag } from "@svc-gateway/common/settings/flag.ts";

/** Which cluster is read, and which installation in it. */
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

export const clusterFlags = [
  optionalFlag({
    name: "kubeconfig",
    type: pathType,
    roles: ["standalone"],
    shownDefault: "KUBECONFIG, else ~/.kube/config",
    meaning: "Kubeconfig file of the cluster.",
  }),
  optionalFlag({
    name: "context",
    type: wordType,
    roles: ["standalone"],
    shownDefault: "the current one",
    meaning: "Context of the kubeconfig.",
  }),
  optionalFlag({
    name: "namespace",
    type: namespaceType,
    roles: ["standalone"],
    shownDefault: "any",
    meaning: "Namespace of the controllers, where a cluster has several installations; short form: -n.",
  }),
] as const;
