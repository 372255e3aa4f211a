import { expect } from "chai";
import { createProxyMetrics } from "../../src/telemetry/metrics.ts";
import { createMergedMetrics } from "../../src/telemetry/merged-metrics.ts";
import { createMetricSet } from "@svc-gateway/common/telemetry/metric-set.ts";
import { controllerMetrics } from "@svc-gateway/common/telemetry/metric-declarations.ts";

const linesOf = (body: string, prefix: string): string[] =>
  body.split("\n").filter((line) => line.startsWith(prefix));

describe("proxy metrics", () => {
  it("the request counter has the labels listener, route, method and status", async () => {
    const metrics = createProxyMetrics();
    const requests = metrics.requestMetrics("80", "ingress/a/b:0.0");
    requests.count("GET", 200);
    requests.count("GET", 404);
    requests.count("GET", 200);
    requests.count("BREW", 200);
    requests.count("get", 200);
    metrics.requestMetrics("443", "").count("GET", 404);
    requests.observe(0.004);
    requests.observe(20);
    requests.transferred(0, 1000);
    requests.transferred(7, 24);
    requests.responded(0.02);
    requests.connected(0.002);
    const { body } = await metrics.expose();
    const labels = '{listener="80",route="ingress/a/b:0.0"}';
    expect(linesOf(body, "svc_proxy_response_bytes_total{")).to.deep.equal([
      `svc_proxy_response_bytes_total${labels} 1024`,
    ]);
    expect(linesOf(body, "svc_proxy_request_bytes_total{")).to.deep.equal([
      `svc_proxy_request_bytes_total${labels} 7`,
    ]);
    expect(linesOf(body, "svc_proxy_upstream_first_byte_seconds_count")).to.deep.equal([
      `svc_proxy_upstream_first_byte_seconds_count${labels} 1`,
    ]);
    expect(linesOf(body, "svc_proxy_upstream_connect_seconds_bucket").slice(0, 2)).to.deep.equal([
      'svc_proxy_upstream_connect_seconds_bucket{le="0.001",listener="80",route="ingress/a/b:0.0"} 0',
      'svc_proxy_upstream_connect_seconds_bucket{le="0.005",listener="80",route="ingress/a/b:0.0"} 1',
    ]);
    expect(linesOf(body, "svc_proxy_requests_total{")).to.have.members([
      'svc_proxy_requests_total{listener="80",route="ingress/a/b:0.0",method="GET",status_code="200"} 2',
      'svc_proxy_requests_total{listener="80",route="ingress/a/b:0.0",method="GET",status_code="404"} 1',
      'svc_proxy_requests_total{listener="80",route="ingress/a/b:0.0",method="OTHER",status_code="200"} 2',
      'svc_proxy_requests_total{listener="443",route="",method="GET",status_code="404"} 1',
    ]);
    expect(linesOf(body, "svc_proxy_request_duration_seconds_bucket{")[0]).to.equal(
      'svc_proxy_request_duration_seconds_bucket{le="0.0025",listener="80",route="ingress/a/b:0.0"} 0',
    );
    expect(linesOf(body, "svc_proxy_request_duration_seconds_count")).to.deep.equal([
      'svc_proxy_request_duration_seconds_count{listener="80",route="ingress/a/b:0.0"} 2',
    ]);
  });

  it("a route keeps its counters from one routing table to the next", () => {
    const metrics = createProxyMetrics();
    expect(metrics.requestMetrics("80", "r")).to.equal(metrics.requestMetrics("80", "r"));
    expect(metrics.requestMetrics("80", "r")).to.not.equal(metrics.requestMetrics("81", "r"));
  });

  it("the number of series that clients and upstreams can create is bounded", async () => {
    const metrics = createProxyMetrics();
    const requests = metrics.requestMetrics("80", "r");
    let total = 0;
    for (const method of ["GET", "PUT", "POST", "COPY"]) {
      for (let status = 200; status < 600; status += 1, total += 1) requests.count(method, status);
    }
    const lines = linesOf((await metrics.expose()).body, "svc_proxy_requests_total{");
    const counted = lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    expect(counted).to.equal(total);
    expect(lines.filter((line) => !line.includes('method="OTHER"'))).to.have.length(256);
    expect(lines.length).to.be.at.most(256 + 400);
  });

  it("the series of removed routes are dropped for good, also while requests are in flight", async () => {
    const metrics = createProxyMetrics();
    const old = metrics.requestMetrics("80", "old");
    const silent = metrics.requestMetrics("443", "old");
    old.count("GET", 200);
    old.observe(1);
    metrics.requestMetrics("80", "kept").count("GET", 200);
    metrics.upstreamErrors.with({ listener: "80", route: "old", upstream: "a/b", error_type: "tls" }).inc();
    metrics.mirrorRequests.with({ route: "old", upstream: "a/b" }).inc();
    metrics.activeUpstreams.with({ upstream: "a/b" }).set(1);
    metrics.requestMetrics("80", "").count("GET", 404);
    const retain = (): void => metrics.retainRoutes((route) => route === "kept");
    retain();
    old.count("GET", 200);
    old.count("POST", 500);
    silent.count("GET", 200);
    silent.observe(1);
    silent.transferred(1, 1);
    silent.responded(1);
    const { body } = await metrics.expose();
    expect(body).to.not.include('route="old"');
    expect(body).to.include('route="kept"').and.include('route=""');
    expect(body).to.include('svc_proxy_active_upstreams{upstream="a/b"} 1');
    // A request that fails later brings one back until other routes go.
    metrics.mirrorRequests.with({ route: "old", upstream: "a/b" }).inc();
    retain();
    expect((await metrics.expose()).body).to.not.include('route="old"');
  });

  it("a route that is added again starts at zero", async () => {
    const metrics = createProxyMetrics();
    metrics.requestMetrics("80", "r").count("GET", 200);
    metrics.retainRoutes(() => false);
    metrics.requestMetrics("80", "r").count("GET", 200);
    expect(linesOf((await metrics.expose()).body, "svc_proxy_requests_total{")).to.deep.equal([
      'svc_proxy_requests_total{listener="80",route="r",method="GET",status_code="200"} 1',
    ]);
  });

  it("the exposition shows dropped log lines and the metrics of other parts", async () => {
    const metrics = createProxyMetrics({ logSink: { droppedLines: () => 12 } });
    const { body } = await metrics.expose(createMetricSet(controllerMetrics));
    expect(linesOf(body, "svc_proxy_log_lines_dropped_total")).to.deep.equal([
      "svc_proxy_log_lines_dropped_total 12",
    ]);
    expect(linesOf(body, "svc_controller_leader ")).to.deep.equal(["svc_controller_leader 0"]);
  });
});

describe("merged metrics", () => {
  const requestLines = async (merged: ReturnType<typeof createMergedMetrics>): Promise<string[]> =>
    linesOf((await merged.expose()).body, "svc_proxy_requests_total{");
  const line = (route: string, count: number): string =>
    `svc_proxy_requests_total{listener="80",route="${route}",method="GET",status_code="200"} ${count}`;

  it("merged metrics add up the workers, each with its latest values", async () => {
    const merged = createMergedMetrics();
    for (const worker of [1, 2]) {
      const metrics = createProxyMetrics();
      metrics.requestMetrics("80", "r").count("GET", 200);
      merged.report(worker, metrics.export());
      metrics.requestMetrics("80", "r").count("GET", 200);
      metrics.connectionsActive.with({ listener: "80" }).set(3);
      metrics.routingTableHosts.with({}).set(7);
      merged.report(worker, metrics.export());
    }
    const { body } = await merged.expose();
    expect(body).to.include(line("r", 4));
    expect(body).to.include('svc_proxy_connections_active{listener="80"} 6\n');
    expect(body).to.include("svc_proxy_routing_table_hosts 7\n");
  });

  it("merged metrics keep the counters of ended workers, not their gauges", async () => {
    const merged = createMergedMetrics();
    for (let worker = 0; worker < 3; worker += 1) {
      const metrics = createProxyMetrics();
      metrics.requestMetrics("80", "r").count("GET", 200);
      metrics.connectionsActive.with({ listener: "80" }).set(3);
      merged.report(worker, metrics.export());
      merged.retire(worker);
    }
    merged.report(9, createProxyMetrics().export());
    const { body } = await merged.expose();
    expect(body).to.include(line("r", 3));
    expect(body).to.not.include('svc_proxy_connections_active{listener="80"}');
  });

  it("merged metrics drop removed routes of ended workers", async () => {
    const merged = createMergedMetrics();
    const metrics = createProxyMetrics();
    metrics.requestMetrics("80", "old").count("GET", 200);
    metrics.requestMetrics("80", "kept").count("GET", 200);
    merged.report(1, metrics.export());
    merged.retire(1);
    merged.forgetRoutes(new Set(["old"]));
    expect(await requestLines(merged)).to.deep.equal([line("kept", 1)]);
  });
});
