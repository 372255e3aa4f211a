import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { expect } from "chai";
import { holdRefusingPort } from "../../../common/test/held-ports.ts";
import { startHttpCollector } from "../../../proxy/test/tracing/collector.ts";
import { runInside } from "../support.ts";
import { hasPrometheus, type Prometheus, type Sample, withPrometheus } from "./prometheus.ts";
import { exported } from "./exported.ts";
import { ingressManifest, listOf, serviceManifests, withGateway } from "./gateway.ts";

type Panel = {
  readonly title?: string;
  readonly targets?: readonly { readonly expr?: string }[];
  readonly panels?: readonly Panel[];
};

const host = "shop.example";
const url = `http://${host}/cart/7`;

async function ask(port: number): Promise<IncomingMessage> {
  const sent = request({
    host: "127.0.0.1",
    port,
    path: "/cart/7?token=secret",
    headers: { host },
    agent: false,
  });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  answer.resume();
  return answer;
}

/** The query of a panel of the dashboard for proxies, with the metric that it reads and the labels that it shows. */
function panelOf(title: string): {
  readonly expr: string;
  readonly metric: string;
  readonly labels: readonly string[];
} {
  const file = new URL("../../../config/chart/dashboards/svc-gateway-proxy.json", import.meta.url);
  const { panels } = JSON.parse(readFileSync(file, "utf8")) as { readonly panels: readonly Panel[] };
  const found = panels
    .flatMap((panel) => [panel, ...(panel.panels ?? [])])
    .find((one) => one.title === title);
  const expr = found?.targets?.[0]?.expr ?? "";
  const [, labels = "", metric = ""] = /^sum by \(([^)]*)\) \(rate\((\w+)\{/.exec(expr) ?? [];
  return { expr, metric, labels: labels.split(", ") };
}

/**
 * The series of a panel after further failures. The query is sent as Grafana does with "All" chosen. The first failure
 * begins a series with a rate of 0, so requests are sent until a series has a higher rate.
 */
async function shownAfterMore(
  port: number,
  prometheus: Prometheus,
  expr: string,
): Promise<readonly Sample["labels"][]> {
  const query = expr.replaceAll(/\$(?:namespace|pod)/g, ".*").replaceAll("$__rate_interval", "1m");
  let series: readonly Sample[] = [];
  while (!series.some(({ value }) => value > 0)) {
    expect((await ask(port)).statusCode).to.equal(502);
    series = await prometheus.ask(query);
  }
  return series.map(({ labels }) => labels);
}

/** docs/troubleshooting.md, "Follow one request". */
describe("one request that failed", () => {
  it("a failed request leads by its id to its log line, trace, panel of the dashboard and explanation", async () => {
    const collector = await startHttpCollector();
    const refusing = await holdRefusingPort();
    const { port } = refusing;
    const manifests = listOf(
      ...serviceManifests("shop", [port]),
      ingressManifest("shop", host, [{ path: "/cart", service: "shop" }]),
    );
    const flags = [
      ...["--request-id-header", "X-Request-ID", "--access-log-fields", "+request_id,+trace_id"],
      ...["--tracing-endpoint", collector.url, "--tracing-protocol", "http/protobuf"],
    ];
    try {
      await withGateway({ manifests: { "all.json": manifests }, flags }, async (gateway) => {
        // What a client reports: a status and an id.
        let requests = 0;
        let id: string | undefined;
        let line: Readonly<Record<string, unknown>> = {};
        const spans = () => collector.spans.filter((one) => one.traceId === line["trace_id"]);
        await exported(gateway, async () => {
          requests++;
          const answer = await ask(gateway.httpPort);
          expect(answer.statusCode).to.equal(502);
          id = String(answer.headers["x-request-id"]);
          line = await gateway.log((one) => one["request_id"] === id);
          return () => spans().length === 2;
        });
        expect(line).to.include({
          error: "connection refused",
          reason: "upstream-refused",
          upstream_addr: `127.0.0.1:${port}`,
          route_id: "ingress/default/shop:0.0",
        });

        const [server, attempt] = spans().toSorted((a, b) => a.kind - b.kind);
        expect(server?.attributes).to.include({
          "error.type": "upstream-refused",
          "http.route": "/cart",
          "svc_gateway.request.id": id,
        });
        expect(attempt?.parentId).to.equal(server?.spanId);

        const { expr, metric, labels } = panelOf("Refusals");
        expect(labels).to.deep.equal(["filter", "reason"]);
        const metrics = await (await fetch(`http://127.0.0.1:${gateway.adminPort}/metrics`)).text();
        expect(metrics).to.include(
          `\n${metric}{filter="upstream",reason="${String(line["reason"])}"} ${requests}\n`,
        );

        if (hasPrometheus())
          await withPrometheus(gateway.adminPort, async (prometheus) => {
            const shown = await shownAfterMore(gateway.httpPort, prometheus, expr);
            expect(shown).to.deep.equal([{ filter: "upstream", reason: line["reason"] }]);
          });

        const { code, out } = await runInside(["explain", "GET", url, "--manifests", gateway.folder]);
        expect(out)
          .to.include(`${String(line["route_id"])} of Ingress default/shop`)
          .and.to.include(`127.0.0.1:${port}`);
        expect(code).to.equal(0);

        const everything = [
          JSON.stringify(line),
          metrics,
          out,
          ...collector.spans.map(({ attributes }) => JSON.stringify(attributes)),
        ];
        expect(everything.join("\n")).not.to.include("secret");
      });
    } finally {
      refusing.close();
      await collector.close();
    }
  });
});
