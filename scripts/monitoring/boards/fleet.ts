import type { Board, Limit } from "../board.ts";
import { names } from "../metric-names.ts";
import { rateBy, select } from "../promql.ts";

const { proxy, controller, server, client, process } = names;

/** Selects proxies of the install namespace, and those of dedicated Gateways in other namespaces. */
const inNamespace = 'namespace=~"$namespace"';

const day = 86_400;

/** The limits of the alerts, in units of `seconds`. */
const certificateLimits = (seconds: number): readonly Limit[] => [
  { from: null, colour: "red" },
  { from: (2 * day) / seconds, colour: "orange" },
  { from: (14 * day) / seconds, colour: "green" },
];

/**
 * The board for operators on call: the state of the proxies, the snapshots that they serve, and certificates that
 * expire soon.
 */
export const fleetBoard: Board = {
  uid: "svc-gateway-fleet",
  title: "svc-gateway / Fleet",
  description: "Which release and snapshot every proxy serves, and which certificates end soon.",
  variables: [
    { name: "namespace", label: "Namespace", values: `label_values(${process.buildInfo}, namespace)` },
  ],
  rows: [
    {
      title: "Versions",
      panels: [
        {
          title: "Proxies behind",
          description: "Connected proxies that have not acknowledged the latest snapshot for 10 s.",
          unit: "short",
          isStat: true,
          limits: [
            { from: null, colour: "green" },
            { from: 1, colour: "red" },
          ],
          queries: [
            {
              expr: `count(${select(server.proxyBehind, inNamespace)} > 10) or vector(0)`,
              legend: "proxies",
            },
          ],
        },
        {
          title: "Proxies without a controller",
          description: "They serve their last snapshot.",
          unit: "short",
          isStat: true,
          limits: [
            { from: null, colour: "green" },
            { from: 1, colour: "red" },
          ],
          queries: [
            { expr: `count(${select(client.state, inNamespace)} == 2) or vector(0)`, legend: "proxies" },
          ],
        },
        {
          title: "Workers",
          description: "Worker threads of all proxies.",
          unit: "short",
          isStat: true,
          queries: [{ expr: `sum(${select(proxy.workers, inNamespace)})`, legend: "workers" }],
        },
        {
          title: "Next certificate ends in",
          description: "The earliest end of a certificate that is served to clients.",
          unit: "s",
          isStat: true,
          limits: certificateLimits(1),
          queries: [{ expr: `min(${select(proxy.tlsCertExpiry, inNamespace)})`, legend: "certificate" }],
        },
        {
          title: "Releases",
          description: "Pods by release, controllers included.",
          unit: "short",
          queries: [
            { expr: `count by (release) (${select(process.buildInfo, inNamespace)})`, legend: "{{release}}" },
          ],
        },
        {
          title: "Time since the last snapshot",
          description:
            "Since a proxy applied the snapshot that it serves. Proxies of one scope should agree.",
          unit: "s",
          queries: [
            {
              expr: `time() - (${select(client.snapshotTime, inNamespace)} > 0)`,
              legend: "{{namespace}}/{{pod}}",
            },
          ],
        },
        {
          title: "Behind the latest snapshot",
          description: "For how long a connected proxy has not acknowledged it.",
          unit: "s",
          limits: [
            { from: null, colour: "transparent" },
            { from: 60, colour: "red" },
          ],
          queries: [
            { expr: `max by (proxy) (${select(server.proxyBehind, inNamespace)})`, legend: "{{proxy}}" },
          ],
        },
        {
          title: "Hosts, controllers and proxies",
          description:
            "Without dedicated Gateways, a lasting difference means that proxies serve a stale table.",
          unit: "short",
          queries: [
            { expr: `max(${select(controller.routingTableHosts, inNamespace)})`, legend: "controllers" },
            { expr: select(proxy.routingTableHosts, inNamespace), legend: "{{namespace}}/{{pod}}" },
          ],
        },
      ],
    },
    {
      title: "Discovery",
      panels: [
        {
          title: "Snapshots rejected",
          description: "By proxies; the reason is in their log as snapshot refused.",
          unit: "ops",
          queries: [
            { expr: rateBy("pod", client.snapshots, `${inNamespace}, result="nack"`), legend: "{{pod}}" },
          ],
        },
        {
          title: "Reconnects",
          description: "Attempts of proxies to reconnect to a controller.",
          unit: "ops",
          queries: [{ expr: rateBy("pod", client.reconnects, inNamespace), legend: "{{pod}}" }],
        },
        {
          title: "Identities",
          description: "Requests for a workload identity, by reason.",
          unit: "ops",
          queries: [{ expr: rateBy("reason", server.bootstraps, inNamespace), legend: "{{reason}}" }],
        },
        {
          title: "Streams",
          description: "Requested streams by result.",
          unit: "ops",
          queries: [{ expr: rateBy("result", server.streams, inNamespace), legend: "{{result}}" }],
        },
      ],
    },
    {
      title: "Certificates",
      panels: [
        {
          title: "Certificates of hosts",
          description: "Days until the ten end that end first.",
          unit: "suffix: days",
          limits: certificateLimits(day),
          queries: [
            {
              expr: `bottomk(10, min by (sni) (${select(proxy.tlsCertExpiry, inNamespace)})) / ${day}`,
              legend: "{{sni}}",
            },
          ],
        },
        {
          title: "Identities of proxies",
          description: "Hours until the first ends; each is renewed before.",
          unit: "suffix: h",
          limits: [
            { from: null, colour: "red" },
            { from: 1, colour: "transparent" },
          ],
          queries: [
            { expr: `min by (pod) (${select(client.svidExpiry, inNamespace)}) / 3600`, legend: "{{pod}}" },
          ],
        },
        {
          title: "Authority of the discovery channel",
          description: "Days until the authority ends that signs the identities; it is renewed before.",
          unit: "suffix: days",
          limits: [
            { from: null, colour: "red" },
            { from: 7, colour: "transparent" },
          ],
          queries: [
            { expr: `min(${select(server.authorityExpiry, inNamespace)}) / ${day}`, legend: "authority" },
          ],
        },
      ],
    },
  ],
};
