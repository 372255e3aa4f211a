/**
 * The alerting rules of the chart. Each has a page under docs/runbooks, which explains its meaning and what to do.
 * Thresholds concern the gateway itself; alerts about the behaviour of a backend are left to its owner.
 */
import { names } from "./metric-names.ts";
import { quantile, rateBy, select } from "./promql.ts";

export type Alert = {
  readonly alert: string;
  readonly expr: string;
  /** The time for which the condition must hold, as Prometheus writes durations. */
  readonly for: string;
  /** `critical` if clients notice, or will soon; `warning` if it can be handled within working hours. */
  readonly severity: "critical" | "warning";
  /** One sentence; labels as `{{ $labels.pod }}`. */
  readonly summary: string;
};

const { proxy, controller, server, client, process } = names;
const day = 24 * 3600;

const increase = (metric: string, range: string, matchers = ""): string =>
  `increase(${select(metric, matchers)}[${range}])`;

export const alerts: readonly Alert[] = [
  {
    alert: "SvcProxyAbsent",
    expr: `absent(${proxy.workers})`,
    for: "5m",
    severity: "critical",
    summary: "No proxy is scraped: either none runs, or its metrics cannot be read.",
  },
  {
    alert: "SvcControllerAbsent",
    expr: `absent(${controller.leader})`,
    for: "10m",
    severity: "critical",
    summary: "No controller is scraped: either none runs, or its metrics cannot be read.",
  },
  {
    alert: "SvcProxyErrors",
    expr: `${rateBy("namespace, listener", proxy.requests, 'status_code=~"5.."', "5m")} / ${rateBy("namespace, listener", proxy.requests, "", "5m")} > 0.05`,
    for: "10m",
    severity: "critical",
    summary:
      "{{ $value | humanizePercentage }} of the requests to listener {{ $labels.listener }} are answered 5xx.",
  },
  {
    alert: "SvcProxyInternalErrors",
    expr: `${rateBy("namespace, reason", proxy.refusals, 'filter="proxy"', "5m")} > 0.1`,
    for: "10m",
    severity: "critical",
    summary: "{{ $value | humanize }} requests per second fail in the proxy itself: {{ $labels.reason }}.",
  },
  {
    alert: "SvcProxyEventLoopBusy",
    expr: `svc_proxy:event_loop_utilization:ratio5m{thread!="main"} > 0.9`,
    for: "10m",
    severity: "warning",
    summary:
      "Worker {{ $labels.thread }} of {{ $labels.pod }} is at work {{ $value | humanizePercentage }} of the time.",
  },
  {
    alert: "SvcProxyEventLoopDelayed",
    expr: `${quantile(0.99, "namespace, pod, thread", process.loopDelay, 'thread!="main"', "5m")} > 0.25`,
    for: "10m",
    severity: "warning",
    summary:
      "Timers of worker {{ $labels.thread }} of {{ $labels.pod }} run {{ $value | humanizeDuration }} late.",
  },
  {
    alert: "SvcProxyWorkerRestarts",
    expr: `${increase(proxy.workerRestarts, "15m")} > 0`,
    for: "0m",
    severity: "warning",
    summary: "A worker of {{ $labels.pod }} was replaced ({{ $labels.reason }}); its connections were lost.",
  },
  {
    alert: "SvcHeapNearLimit",
    expr: `${process.heapUsed} / ${process.heapLimit} > 0.9`,
    for: "15m",
    severity: "warning",
    summary:
      "Thread {{ $labels.thread }} of {{ $labels.pod }} uses {{ $value | humanizePercentage }} of its heap limit.",
  },
  {
    alert: "SvcProxyLimitReached",
    expr: `${rateBy("namespace, pod, limit", proxy.limitsReached, "", "5m")} > 0.1`,
    for: "10m",
    severity: "warning",
    summary: "{{ $labels.pod }} rejects connections or requests at the limit {{ $labels.limit }}.",
  },
  {
    alert: "SvcProxyListenerNotBound",
    expr: `${increase(proxy.listenerLifecycle, "15m", 'event="bind_failed"')} > 0`,
    for: "0m",
    severity: "critical",
    summary: "{{ $labels.pod }} could not bind a port of a listener, which serves nothing there.",
  },
  {
    alert: "SvcUpstreamWithoutEndpoints",
    expr: `max by (namespace, upstream) (${proxy.activeUpstreams}) == 0`,
    for: "5m",
    severity: "warning",
    summary: "The Service {{ $labels.upstream }} has no usable endpoint; requests for it are answered 503.",
  },
  {
    alert: "SvcUpstreamErrors",
    expr: `${rateBy("namespace, upstream, error_type", proxy.upstreamErrors, 'error_type!="5xx"', "5m")} > 0.5`,
    for: "10m",
    severity: "warning",
    summary:
      "{{ $value | humanize }} attempts per second at {{ $labels.upstream }} fail ({{ $labels.error_type }}).",
  },
  {
    alert: "SvcCertificateExpiresSoon",
    expr: `min by (namespace, sni) (${proxy.tlsCertExpiry}) < ${14 * day} > ${2 * day}`,
    for: "1h",
    severity: "warning",
    summary: "The certificate of {{ $labels.sni }} ends in {{ $value | humanizeDuration }}.",
  },
  {
    alert: "SvcCertificateExpires",
    expr: `min by (namespace, sni) (${proxy.tlsCertExpiry}) <= ${2 * day}`,
    for: "5m",
    severity: "critical",
    summary: "The certificate of {{ $labels.sni }} ends in {{ $value | humanizeDuration }}.",
  },
  {
    alert: "SvcProxyBehind",
    expr: `max by (namespace, proxy) (${server.proxyBehind}) > 60`,
    for: "2m",
    severity: "critical",
    summary:
      "The proxy {{ $labels.proxy }} has not acknowledged the latest snapshot for {{ $value | humanizeDuration }}.",
  },
  {
    alert: "SvcProxySettingsUnknown",
    expr: `max by (namespace, proxy) (${server.proxyUnknownFields}) > 0`,
    for: "1h",
    severity: "warning",
    summary:
      "The proxy {{ $labels.proxy }} is of an older release and does not know {{ $value }} settings, which have no effect there.",
  },
  {
    alert: "SvcProxySnapshotRejected",
    expr: `${increase(client.snapshots, "15m", 'result="nack"')} > 0`,
    for: "0m",
    severity: "critical",
    summary: "{{ $labels.pod }} rejected a snapshot and keeps the one before.",
  },
  {
    alert: "SvcProxyDisconnected",
    expr: `${client.state} == 2`,
    for: "5m",
    severity: "critical",
    summary: "{{ $labels.pod }} has no controller and serves its last snapshot.",
  },
  {
    alert: "SvcProxyIdentityExpires",
    expr: `${client.svidExpiry} < 3600`,
    for: "5m",
    severity: "critical",
    summary: "The identity of {{ $labels.pod }} ends in {{ $value | humanizeDuration }} and was not renewed.",
  },
  {
    alert: "SvcDiscoveryAuthorityExpires",
    expr: `min by (namespace) (${server.authorityExpiry}) < ${7 * day}`,
    for: "1h",
    severity: "critical",
    summary: "The certificate authority of the discovery channel ends in {{ $value | humanizeDuration }}.",
  },
  {
    alert: "SvcControllerLeaderMissing",
    expr: `sum by (namespace) (${controller.leader}) == 0`,
    for: "2m",
    severity: "critical",
    summary: "No controller leads: statuses, Events and dedicated proxies are not written.",
  },
  {
    alert: "SvcControllerBuildFails",
    expr: `${increase(controller.routingTableRebuilds, "15m", 'result="error"')} > 0`,
    for: "0m",
    severity: "critical",
    summary: "{{ $labels.pod }} could not build a routing table; changes are not served.",
  },
  {
    alert: "SvcControllerWatchErrors",
    expr: `${rateBy("namespace, kind", controller.watchErrors, "", "10m")} > 0.01`,
    for: "15m",
    severity: "warning",
    summary:
      "The watch of {{ $labels.kind }} fails again and again; its changes are seen late or not at all.",
  },
  {
    alert: "SvcControllerReconcileErrors",
    expr: `${rateBy("namespace, controller", controller.reconcileErrors, "", "10m")} > 0.01`,
    for: "15m",
    severity: "warning",
    summary: "The reconciler {{ $labels.controller }} fails again and again.",
  },
  {
    alert: "SvcKeySetFetchFails",
    expr: `max by (namespace) (${controller.keySetsFailing}) > 0`,
    for: "30m",
    severity: "warning",
    summary:
      "{{ $value }} key sets of JwtAuths cannot be fetched; the keys that were fetched before are used.",
  },
  {
    alert: "SvcPathsUnprotected",
    expr: `max by (namespace) (${controller.unprotectedPaths}) > 0`,
    for: "10m",
    severity: "warning",
    summary: "{{ $value }} paths are served without a protection that they ask for.",
  },
  {
    alert: "SvcCertificatesKept",
    expr: `max by (namespace) (${controller.keptCertificates}) > 0`,
    for: "15m",
    severity: "warning",
    summary: "{{ $value }} TLS Secrets are unusable, and their last valid certificates are still served.",
  },
];
