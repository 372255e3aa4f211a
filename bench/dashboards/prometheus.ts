/** A Prometheus that scrapes the processes of the run and adds the labels that the monitors of the chart add. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const port = 9090;
const startLimitMs = 60_000;
/** Seconds between scrapes. */
export const scrapeSeconds = 2;

export type Pod = { readonly name: string; readonly adminPort: number };

/** A series with its labels, and its points as pairs of seconds since 1970 and value. */
export type Series = {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [seconds: number, value: number])[];
};

export type Alert = { readonly name: string; readonly state: string };

export type Prometheus = {
  /** Queries a range; rejects with the message of Prometheus if it rejects the query. */
  range(
    query: string,
    fromSeconds: number,
    toSeconds: number,
    stepSeconds: number,
  ): Promise<readonly Series[]>;
  instant(query: string, atSeconds: number): Promise<readonly Series[]>;
  /** Alerts that are pending or firing. */
  alerts(): Promise<readonly Alert[]>;
};

/** Starts Prometheus with the rules of the chart. It ends with the Linux namespace that it runs in. */
export async function startPrometheus(
  folder: string,
  namespace: string,
  pods: readonly Pod[],
): Promise<Prometheus> {
  mkdirSync(folder, { recursive: true });
  const config = join(folder, "prometheus.json");
  writeFileSync(config, JSON.stringify(configOf(namespace, pods)));
  const log = openSync(join(folder, "prometheus.log"), "w");
  const args = [
    ...[`--config.file=${config}`, `--storage.tsdb.path=${join(folder, "data")}`],
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn("prometheus", args, { stdio: ["ignore", log, log] });
  await untilReady(child, join(folder, "prometheus.log"));
  return {
    async range(query, from, to, step) {
      const parameters = { query, start: String(from), end: String(to), step: String(step) };
      return matrixOf(await ask<Answer>("query_range", parameters));
    },
    instant: async (query, at) => matrixOf(await ask<Answer>("query", { query, time: String(at) })),
    async alerts() {
      const { alerts } = await ask<AlertAnswer>("alerts", {});
      return alerts.map(({ labels, state }) => ({ name: labels["alertname"] ?? "", state }));
    },
  };
}

const configOf = (namespace: string, pods: readonly Pod[]): object => ({
  global: { scrape_interval: `${scrapeSeconds}s`, evaluation_interval: `${scrapeSeconds}s` },
  rule_files: [resolve(import.meta.dirname, "../../config/chart/rules/svc-gateway.yaml")],
  scrape_configs: [
    {
      job_name: "svc-gateway",
      static_configs: pods.map(({ name, adminPort }) => ({
        targets: [`127.0.0.1:${adminPort}`],
        labels: { namespace, pod: name },
      })),
    },
  ],
});

async function untilReady(child: ChildProcess, logPath: string): Promise<void> {
  const endMs = performance.now() + startLimitMs;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/-/ready`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    if (child.exitCode !== null || performance.now() > endMs) {
      throw new Error(`Prometheus does not start: ${readFileSync(logPath, "utf8").slice(-2000)}`);
    }
    await delay(100);
  }
}

type Sample = readonly [number, string];
type Answer = {
  readonly result: readonly {
    readonly metric: Readonly<Record<string, string>>;
    readonly values?: readonly Sample[];
    readonly value?: Sample;
  }[];
};
type AlertAnswer = {
  readonly alerts: readonly { readonly labels: Readonly<Record<string, string>>; readonly state: string }[];
};

async function ask<T>(call: string, parameters: Readonly<Record<string, string>>): Promise<T> {
  const url = `http://127.0.0.1:${port}/api/v1/${call}?${String(new URLSearchParams(parameters))}`;
  const answer = (await (await fetch(url)).json()) as { readonly data?: T; readonly error?: string };
  if (answer.data === undefined)
    throw new Error(`${call} ${parameters["query"] ?? ""}: ${answer.error ?? ""}`);
  return answer.data;
}

const matrixOf = ({ result }: Answer): readonly Series[] =>
  result.map(({ metric, values, value }) => ({
    labels: metric,
    points: (values ?? (value === undefined ? [] : [value])).map(
      ([seconds, text]) => [seconds, Number(text)] as const,
    ),
  }));
