/** A real Prometheus on a free port, which reads one program's metrics and answers queries of dashboards. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A series that a query gives, with its value now. */
export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };

export type Prometheus = {
  /** Returns the result of a query. Throws with the message of Prometheus if that rejects the query. */
  ask(query: string): Promise<readonly Sample[]>;
};

/** Debian: the package `prometheus`. */
export const hasPrometheus = (): boolean => spawnSync("prometheus", ["--version"]).status === 0;

/** Runs the body with a Prometheus that reads this port with the labels of a pod, and ends it even if the body fails. */
export async function withPrometheus(
  adminPort: number,
  body: (prometheus: Prometheus) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "svc-gateway-prometheus-"));
  const config = join(folder, "prometheus.json");
  const target = { targets: [`127.0.0.1:${adminPort}`], labels: { namespace: "svc-system", pod: "proxy" } };
  const job = { job_name: "svc-gateway", static_configs: [target] };
  const intervals = { scrape_interval: "1s", scrape_timeout: "1s" };
  await writeFile(config, JSON.stringify({ global: intervals, scrape_configs: [job] }));
  const flags = [`--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`];
  const child = spawn("prometheus", [...flags, "--web.listen-address=127.0.0.1:0", "--log.format=json"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const closed = once(child, "close");
  try {
    let address = "";
    let isReady = false;
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      lines.push(line);
      const { msg, address: bound } = JSON.parse(line) as { msg?: string; address?: string };
      if (msg === "Listening on") address = bound ?? "";
      isReady ||= msg === "Server is ready to receive web requests.";
      // Written by two threads, in any order.
      if (isReady && address !== "") break;
    }
    if (address === "" || child.exitCode !== null) throw new Error(lines.join("\n"));
    child.stderr.resume();
    await body({ ask: (query) => ask(address, query) });
  } finally {
    child.kill("SIGKILL");
    await closed;
    await rm(folder, { recursive: true });
  }
}

type Answer = {
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly value: readonly [seconds: number, value: string];
    }[];
  };
};

async function ask(address: string, query: string): Promise<readonly Sample[]> {
  const url = `http://${address}/api/v1/query?${String(new URLSearchParams({ query }))}`;
  const { data, error } = (await (await fetch(url)).json()) as Answer;
  if (data === undefined) throw new Error(`${query}: ${error ?? "no answer"}`);
  return data.result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
}
