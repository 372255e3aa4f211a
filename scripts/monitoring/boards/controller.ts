import type { Board } from "../board.ts";
import { names } from "../metric-names.ts";
import { chosenPods, rateBy, select, shownQuantile } from "../promql.ts";
import { processRow } from "./process-row.ts";

const { controller, server } = names;

/** For operators of controllers: leadership, builds, writes to the API server, watches and key sets. */
export const controllerBoard: Board = {
  uid: "svc-gateway-controller",
  title: "svc-gateway / Controller",
  description: "Leadership, builds, writes to the API server, watches and key sets of the controllers.",
  variables: [
    { name: "namespace", label: "Namespace", values: `label_values(${controller.leader}, namespace)` },
    {
      name: "pod",
      label: "Pod",
      values: `label_values(${select(controller.leader, 'namespace=~"$namespace"')}, pod)`,
    },
  ],
  rows: [
    {
      title: "State",
      panels: [
        {
          title: "Leaders",
          description: "Exactly one replica leads; it alone writes to the API server.",
          unit: "short",
          isStat: true,
          limits: [
            { from: null, colour: "red" },
            { from: 1, colour: "green" },
            { from: 2, colour: "red" },
          ],
          queries: [{ expr: `sum(${select(controller.leader, chosenPods)})`, legend: "leaders" }],
        },
        {
          title: "Hosts",
          description: "Host names with routes in the routing tables of all proxies.",
          unit: "short",
          isStat: true,
          queries: [{ expr: `max(${select(controller.routingTableHosts, chosenPods)})`, legend: "hosts" }],
        },
        {
          title: "Connected proxies",
          description: "Open streams of proxies, over all replicas.",
          unit: "short",
          isStat: true,
          limits: [
            { from: null, colour: "red" },
            { from: 1, colour: "green" },
          ],
          queries: [{ expr: `sum(${select(server.connectedProxies, chosenPods)})`, legend: "proxies" }],
        },
        {
          title: "Unprotected paths",
          description: "Paths that are served without a protection that they ask for, as their class allows.",
          unit: "short",
          isStat: true,
          limits: [
            { from: null, colour: "green" },
            { from: 1, colour: "orange" },
          ],
          queries: [{ expr: `max(${select(controller.unprotectedPaths, chosenPods)})`, legend: "paths" }],
        },
        {
          title: "Changes of the leader",
          description: "A leader that changes often cannot renew its lease.",
          unit: "ops",
          queries: [{ expr: rateBy("pod", controller.leaderTransitions, chosenPods), legend: "{{pod}}" }],
        },
        {
          title: "Routes",
          description: "In the routing table, by the API that defines them.",
          unit: "short",
          queries: [
            {
              expr: `max by (kind) (${select(controller.routingTableRoutes, chosenPods)})`,
              legend: "{{kind}}",
            },
          ],
        },
      ],
    },
    {
      title: "Builds",
      panels: [
        {
          title: "Builds",
          description: "Routing tables built, by result.",
          unit: "ops",
          queries: [
            { expr: rateBy("result", controller.routingTableRebuilds, chosenPods), legend: "{{result}}" },
          ],
        },
        {
          title: "Duration of builds",
          description: "A change reaches the proxies after the build that contains it.",
          unit: "s",
          queries: [0.5, 0.99].map((q) => ({
            expr: shownQuantile(q, "", controller.routingTableRebuildDuration, chosenPods),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: "Snapshot size, largest namespaces",
          // If the scrape adds a label `namespace`, Prometheus renames that of the metric to `exported_namespace`.
          description: "Which namespaces the snapshots consist of.",
          unit: "bytes",
          queries: [
            {
              expr: `topk(10, max by (scope, namespace, exported_namespace) (${controller.snapshotBytes}))`,
              legend: "{{scope}} {{namespace}} {{exported_namespace}}",
            },
          ],
        },
        {
          title: "Certificates that are kept",
          description: "TLS Secrets that became unusable and whose last valid certificate is still served.",
          unit: "short",
          limits: [
            { from: null, colour: "transparent" },
            { from: 1, colour: "orange" },
          ],
          queries: [
            { expr: `max(${select(controller.keptCertificates, chosenPods)})`, legend: "certificates" },
          ],
        },
      ],
    },
    {
      title: "API server",
      panels: [
        {
          title: "Watch events",
          description: "By kind.",
          unit: "ops",
          queries: [{ expr: rateBy("kind", controller.watchEvents, chosenPods), legend: "{{kind}}" }],
        },
        {
          title: "Watch errors",
          description: "By kind. Without a watch, changes of the kind are not seen.",
          unit: "ops",
          queries: [{ expr: rateBy("kind", controller.watchErrors, chosenPods), legend: "{{kind}}" }],
        },
        {
          title: "Status updates",
          description: "By kind and result.",
          unit: "ops",
          queries: [
            {
              expr: rateBy("kind, result", controller.statusPatches, chosenPods),
              legend: "{{kind}} {{result}}",
            },
          ],
        },
        {
          title: "Duration of status updates",
          description: "99th percentile by kind.",
          unit: "s",
          queries: [
            {
              expr: shownQuantile(0.99, "kind", controller.statusPatchDuration, chosenPods),
              legend: "{{kind}}",
            },
          ],
        },
        {
          title: "Reconciliations",
          description: "By reconciler and result.",
          unit: "ops",
          queries: [
            {
              expr: rateBy("controller, result", controller.reconciles, chosenPods),
              legend: "{{controller}} {{result}}",
            },
          ],
        },
        {
          title: "Duration of reconciliations",
          description: "99th percentile by reconciler.",
          unit: "s",
          queries: [
            {
              expr: shownQuantile(0.99, "controller", controller.reconcileDuration, chosenPods),
              legend: "{{controller}}",
            },
          ],
        },
        {
          title: "Key sets",
          description: "Fetches of the key sets that JwtAuths name, by result.",
          unit: "ops",
          queries: [{ expr: rateBy("result", controller.keySetFetches, chosenPods), legend: "{{result}}" }],
        },
        {
          title: "Duration of key set fetches",
          description: "99th percentile.",
          unit: "s",
          queries: [
            { expr: shownQuantile(0.99, "", controller.keySetFetchDuration, chosenPods), legend: "p99" },
          ],
        },
      ],
    },
    processRow(chosenPods, controller.leader),
  ],
};
