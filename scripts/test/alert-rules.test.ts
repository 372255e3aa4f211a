import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { stringify } from "yaml";
import { alerts } from "../monitoring/alerts.ts";

const rules = fileURLToPath(new URL("../../config/chart/rules/svc-gateway.yaml", import.meta.url));

/** The samples of series, one per minute, in the notation of promtool. */
type Series = Readonly<Record<string, string>>;

/** An hour and a half, which is longer than the `for` of any alert. */
const minutes = 90;
const flat = (value: number): string => `${value}x${minutes}`;
const rising = (perMinute: number): string => `0+${perMinute}x${minutes}`;

/** A gauge or counter with one series, above and below the threshold of the alert. */
const pair = (series: string, firing: string, quiet: string): readonly [Series, Series] => [
  { [series]: firing },
  { [series]: quiet },
];

const delays = (within: number): Series => ({
  'svc_event_loop_delay_seconds_bucket{thread="1",le="0.25"}': rising(within),
  'svc_event_loop_delay_seconds_bucket{thread="1",le="1"}': rising(100),
  'svc_event_loop_delay_seconds_bucket{thread="1",le="+Inf"}': rising(100),
});
const requests = (errors: number): Series => ({
  'svc_proxy_requests_total{listener="80",status_code="500"}': rising(errors),
  'svc_proxy_requests_total{listener="80",status_code="200"}': rising(100 - errors),
});
const loop = (active: number): Series => ({
  'svc_event_loop_active_seconds_total{thread="1"}': rising(active),
  'svc_event_loop_idle_seconds_total{thread="1"}': rising(60 - active),
});
const heap = (used: number): Series => ({
  'svc_heap_used_bytes{thread="1"}': flat(used),
  'svc_heap_limit_bytes{thread="1"}': flat(100),
});

/** Series that make each alert fire, and similar ones that do not. */
const cases: Readonly<Record<string, readonly [firing: Series, quiet: Series]>> = {
  SvcProxyAbsent: [{}, { svc_proxy_workers: flat(2) }],
  SvcControllerAbsent: [{}, { svc_controller_leader: flat(0) }],
  SvcProxyErrors: [requests(10), requests(4)],
  SvcProxyInternalErrors: pair('svc_proxy_refusals_total{filter="proxy"}', rising(12), rising(3)),
  SvcProxyEventLoopBusy: [loop(57), loop(50)],
  SvcProxyEventLoopDelayed: [delays(90), delays(100)],
  SvcProxyWorkerRestarts: pair('svc_proxy_worker_restarts_total{reason="crash"}', rising(1), flat(3)),
  SvcHeapNearLimit: [heap(95), heap(85)],
  SvcProxyLimitReached: pair('svc_proxy_limits_reached_total{limit="x"}', rising(12), rising(3)),
  SvcProxyListenerNotBound: pair(
    'svc_proxy_listener_lifecycle_total{event="bind_failed"}',
    rising(1),
    flat(1),
  ),
  SvcUpstreamWithoutEndpoints: pair('svc_proxy_active_upstreams{upstream="a/b"}', flat(0), flat(1)),
  SvcUpstreamErrors: pair('svc_proxy_upstream_errors_total{error_type="refused"}', rising(60), rising(20)),
  SvcCertificateExpiresSoon: pair('svc_proxy_tls_cert_expiry_seconds{sni="a"}', flat(604_800), flat(86_400)),
  SvcCertificateExpires: pair('svc_proxy_tls_cert_expiry_seconds{sni="a"}', flat(86_400), flat(604_800)),
  SvcProxyBehind: pair('svc_discovery_proxy_behind_seconds{proxy="a/b"}', flat(90), flat(30)),
  SvcProxySettingsUnknown: pair('svc_discovery_proxy_unknown_fields{proxy="a/b"}', flat(2), flat(0)),
  SvcProxySnapshotRejected: pair(
    'svc_discovery_client_snapshots_total{kind="full",result="nack"}',
    rising(1),
    flat(1),
  ),
  SvcProxyDisconnected: pair("svc_discovery_client_state", flat(2), flat(1)),
  SvcProxyIdentityExpires: pair("svc_discovery_client_svid_expiry_seconds", flat(600), flat(7_200)),
  SvcDiscoveryAuthorityExpires: pair("svc_discovery_ca_expiry_seconds", flat(86_400), flat(1_000_000)),
  SvcControllerLeaderMissing: pair("svc_controller_leader", flat(0), flat(1)),
  SvcControllerBuildFails: pair(
    'svc_controller_routing_table_rebuilds_total{result="error"}',
    rising(1),
    flat(1),
  ),
  SvcControllerWatchErrors: pair('svc_controller_watch_errors_total{kind="a"}', rising(3), flat(9)),
  SvcControllerReconcileErrors: pair(
    'svc_controller_reconcile_errors_total{controller="a"}',
    rising(3),
    flat(9),
  ),
  SvcKeySetFetchFails: pair("svc_controller_key_sets_failing", flat(1), flat(0)),
  SvcPathsUnprotected: pair("svc_controller_unprotected_paths", flat(1), flat(0)),
  SvcCertificatesKept: pair("svc_controller_certificates_kept", flat(1), flat(0)),
};

type Expectation = { readonly alert: string; readonly series: Series; readonly fires: boolean };

const metricsOf = (series: Series): readonly string[] =>
  Object.keys(series).map((name) => name.replace(/\{.*/, ""));

/**
 * Groups expectations that can share one test of promtool, which evaluates all rules each time. No two expectations
 * of a group use the same metric, so that none affects another.
 */
function batchesOf(expectations: readonly Expectation[]): readonly (readonly Expectation[])[] {
  const batches: { readonly metrics: Set<string>; readonly members: Expectation[] }[] = [];
  for (const expectation of expectations) {
    // The metrics of both sides of a case, because one side may have no series.
    const metrics = cases[expectation.alert]?.flatMap(metricsOf) ?? [];
    const fits = batches.find((batch) => metrics.every((metric) => !batch.metrics.has(metric)));
    const batch = fits ?? { metrics: new Set<string>(), members: [] };
    if (fits === undefined) batches.push(batch);
    for (const metric of metrics) batch.metrics.add(metric);
    batch.members.push(expectation);
  }
  return batches.map(({ members }) => members);
}

/**
 * One test of promtool, which compares the alerts that fire at the end, by the series ALERTS that Prometheus
 * maintains.
 */
const testOf = (expectations: readonly Expectation[]): object => ({
  interval: "1m",
  input_series: expectations.flatMap(({ series: all }) =>
    Object.entries(all).map(([series, values]) => ({ series, values })),
  ),
  promql_expr_test: expectations.map(({ alert, fires }) => ({
    expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
    eval_time: `${minutes}m`,
    exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
  })),
});

const promtool = (...args: readonly string[]): { readonly status: number | null; readonly text: string } => {
  const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
  return { status, text: `${stdout}${stderr}` };
};

describe("the alerting rules of the chart", () => {
  it("every alert has series that make it fire, and series that do not", () => {
    expect(Object.keys(cases)).to.have.members(alerts.map(({ alert }) => alert));
  });

  describe("in Prometheus's own tool", () => {
    let folder = "";
    before(function () {
      // The Debian package prometheus contains it. .ci/run installs it.
      if (spawnSync("promtool", ["--version"]).error !== undefined) return this.skip();
      folder = mkdtempSync(join(tmpdir(), "rules-"));
    });
    after(() => {
      if (folder !== "") rmSync(folder, { recursive: true });
    });

    const run = (tests: readonly object[]): ReturnType<typeof promtool> => {
      const file = join(folder, "tests.yaml");
      writeFileSync(file, stringify({ rule_files: [rules], evaluation_interval: "1m", tests }));
      return promtool("test", "rules", file);
    };

    it("the rules of the chart are valid for promtool", () => {
      const { status, text } = promtool("check", "rules", rules);
      expect(status, text).to.equal(0);
    });

    it("every alert fires for what it is about, and not for what is near to it", () => {
      const expectations = Object.entries(cases).flatMap(([alert, [firing, quiet]]) => [
        { alert, series: firing, fires: true },
        { alert, series: quiet, fires: false },
      ]);
      const { status, text } = run(batchesOf(expectations).map(testOf));
      expect(status, text).to.equal(0);
    });

    it("an expectation that does not hold fails the run", () => {
      expect(run([testOf([{ alert: "SvcProxyBehind", series: {}, fires: true }])]).status).to.not.equal(0);
    });
  });
});
