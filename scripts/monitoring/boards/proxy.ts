import type { Board, Panel } from "../board.ts";
import { names } from "../metric-names.ts";
import { chosenPods, rateBy, select, shownQuantile } from "../promql.ts";
import { processRow } from "./process-row.ts";

const { proxy } = names;

const rate = (title: string, description: string, by: string, metric: string, unit = "ops"): Panel => ({
  title,
  description,
  unit,
  queries: [
    {
      expr: rateBy(by, metric, chosenPods),
      legend:
        by === ""
          ? title
          : by
              .split(", ")
              .map((label) => `{{${label}}}`)
              .join(" "),
    },
  ],
});

const now = (title: string, description: string, by: string, metric: string, unit = "short"): Panel => ({
  title,
  description,
  unit,
  queries: [{ expr: `sum by (${by}) (${select(metric, chosenPods)})`, legend: `{{${by}}}` }],
});

/** For operators of proxies: traffic, failures, connections and the threads that serve them. */
export const proxyBoard: Board = {
  uid: "svc-gateway-proxy",
  title: "svc-gateway / Proxy",
  description: "Traffic, failures, connections and threads of the proxies.",
  variables: [
    { name: "namespace", label: "Namespace", values: `label_values(${proxy.workers}, namespace)` },
    {
      name: "pod",
      label: "Pod",
      values: `label_values(${select(proxy.workers, 'namespace=~"$namespace"')}, pod)`,
    },
  ],
  rows: [
    {
      title: "Traffic",
      panels: [
        {
          title: "Requests",
          description: "Requests answered, by the class of their status.",
          unit: "reqps",
          queries: ["1", "2", "3", "4", "5"].map((digit) => ({
            expr: `sum(rate(${select(proxy.requests, chosenPods, `status_code=~"${digit}.."`)}[$__rate_interval]))`,
            legend: `${digit}xx`,
          })),
        },
        {
          title: "Duration of requests",
          description:
            "From the head of a request to the end of its response, backends and slow clients included. WebSockets and gRPC streams are requests until they end.",
          unit: "s",
          queries: [0.5, 0.95, 0.99].map((q) => ({
            expr: shownQuantile(q, "", proxy.requestDuration, chosenPods),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: "Share of 5xx",
          description: "Of all requests, by listener. 5xx of backends count as well.",
          unit: "percentunit",
          limits: [
            { from: null, colour: "transparent" },
            { from: 0.05, colour: "red" },
          ],
          queries: [
            {
              expr: `${rateBy("listener", proxy.requests, `${chosenPods}, status_code=~"5.."`)} / ${rateBy("listener", proxy.requests, chosenPods)}`,
              legend: "{{listener}}",
            },
          ],
        },
        {
          title: "First byte of backends",
          description: "From the start of an attempt, its connection included, to the head of its response.",
          unit: "s",
          queries: [0.5, 0.95].map((q) => ({
            expr: shownQuantile(q, "", proxy.upstreamFirstByte, chosenPods),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: "New connections to backends",
          description: "Time to a new connection, the TLS handshake included.",
          unit: "s",
          queries: [0.5, 0.95].map((q) => ({
            expr: shownQuantile(q, "", proxy.upstreamConnect, chosenPods),
            legend: `p${q * 100}`,
          })),
        },
        {
          title: "Bytes",
          description: "Bodies from clients and to them; counted when a request ends.",
          unit: "Bps",
          queries: [
            { expr: rateBy("", proxy.requestBytes, chosenPods), legend: "received" },
            { expr: rateBy("", proxy.responseBytes, chosenPods), legend: "sent" },
          ],
        },
        rate(
          "Refusals",
          "Requests that failed in the proxy, by filter and reason: docs/reference/refusals.md.",
          "filter, reason",
          proxy.refusals,
          "reqps",
        ),
      ],
    },
    {
      title: "Backends",
      panels: [
        rate(
          "Upstream errors",
          "Attempts that failed, by Service and cause.",
          "upstream, error_type",
          proxy.upstreamErrors,
        ),
        rate("Retries", "By the condition that caused them.", "condition", proxy.upstreamRetries),
        rate(
          "Upstream connections",
          "Requests on a new or a pooled connection. Many new ones cost latency.",
          "state",
          proxy.upstreamConnections,
        ),
        {
          title: "Open circuit breakers",
          description: "Endpoints that get no requests, by route.",
          unit: "short",
          queries: [
            {
              expr: `sum by (route) (${select(proxy.circuitBreakerState, chosenPods)} == bool 1)`,
              legend: "{{route}}",
            },
          ],
        },
      ],
    },
    {
      title: "Connections",
      panels: [
        now("Open connections", "Client connections by listener.", "listener", proxy.connectionsActive),
        rate("New connections", "Client connections accepted, by listener.", "listener", proxy.connections),
        rate(
          "TLS handshakes",
          "With clients, by result and version.",
          "result, version",
          proxy.tlsHandshakes,
        ),
        rate(
          "Limits reached",
          "Connections and requests that were rejected or closed at a limit of the proxy.",
          "limit",
          proxy.limitsReached,
        ),
        now("Listeners", "Serving, or draining after their removal.", "state", proxy.listenersActive),
        {
          title: "Responses that wait for clients",
          description: "Bytes that clients have not read yet.",
          unit: "bytes",
          queries: [
            { expr: `sum by (pod) (${select(proxy.responseWaitingBytes, chosenPods)})`, legend: "{{pod}}" },
          ],
        },
        now("UDP sessions", "Open sessions by listener.", "listener", proxy.udpSessionsActive),
        {
          title: "Bytes of TCP, TLS and UDP routes",
          description: "From clients and to them, counted as they pass.",
          unit: "Bps",
          queries: [
            { expr: rateBy("", proxy.connectionReceivedBytes, chosenPods), legend: "received" },
            { expr: rateBy("", proxy.connectionSentBytes, chosenPods), legend: "sent" },
          ],
        },
        rate("UDP datagrams dropped", "By reason.", "reason", proxy.udpDatagramsDropped),
      ],
    },
    processRow(chosenPods, proxy.workers),
    {
      title: "Workers",
      panels: [
        rate(
          "Worker restarts",
          "Worker threads that were replaced; their connections are lost.",
          "reason",
          proxy.workerRestarts,
        ),
        rate("Log lines dropped", "Because the reader of the log is too slow.", "", proxy.logLinesDropped),
      ],
    },
  ],
};
