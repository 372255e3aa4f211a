/**
 * Measures the cost of each feature of a route on its own: `make bench-features`. One gateway with one worker serves
 * a route for each feature, and one without any; each is compared with the latter, with the same requests. CASES=a,b
 * selects features; ROUNDS and SECONDS apply to each; BASELINE=<git ref> also measures another commit of this proxy.
 * See docs/benchmarks.md, "What a feature costs".
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Load, Target } from "../compare/loads/load.ts";
import { wrk } from "../compare/loads/wrk.ts";
import { compiled } from "../compare/programs.ts";
import { median } from "../compare/report/results.ts";
import { createTokenIssuer } from "../compare/setup.ts";
import { checkoutOf } from "../../scripts/checkout.ts";
import {
  cpuSeconds,
  freePorts,
  removeFolder,
  startPinned,
  stop,
  temporaryFolder,
  waitForPort,
} from "../processes.ts";
import { type Feature, features, hostOf, without } from "./features.ts";
import { writeManifests } from "./manifests.ts";

const root = resolve(import.meta.dirname, "../..");
const rounds = Number(process.env["ROUNDS"] ?? 3);
const seconds = Number(process.env["SECONDS"] ?? 1);
const { BASELINE: baseline, CASES: chosen } = process.env;
const flags = process.env["FLAGS"]?.split(" ") ?? [];
const warmUpSeconds = 5;
const token = createTokenIssuer();

type Subject = { readonly name: string; readonly target: Target; readonly stop: () => Promise<void> };

async function startSubject(name: string, checkout: string, manifests: string): Promise<Subject> {
  const [http = 0, https = 0] = await freePorts(2);
  const bundle = join(checkout, "dist/svc-gateway.mjs");
  const child = startPinned("0", process.execPath, [
    ...[bundle, "serve", "standalone", "--manifests", manifests, "--port-map", `80=${http},443=${https}`],
    ...["--admin-port", "0", "--health-port", "0", "--proxy-workers", "1", "--log", "error", ...flags],
  ]);
  await waitForPort(http);
  const target: Target = { ports: { http, https, h2c: http }, pid: child.pid ?? 0, token };
  return { name, target, stop: () => stop(child) };
}

/** The load of a feature, sent to the host of the feature or to that without any. */
const loadOf = ({ headers, withToken, path }: Feature, host: string): Load =>
  wrk({
    host: hostOf(host),
    ...(headers && { headers }),
    ...(withToken && { withToken }),
    ...(path !== undefined && { path }),
  });

/** Microseconds of processor time per request; NaN if the machine was too busy to answer any. */
async function costOf(load: Load, target: Target, lasting = seconds): Promise<number> {
  const before = cpuSeconds(target.pid);
  const { units, errors } = await load(target, lasting);
  // wrk counts requests that are unanswered at its end as timeouts.
  if (errors > units / 10) throw new Error(`${errors} of ${units} requests have failed`);
  if (units === 0) return Number.NaN;
  return ((cpuSeconds(target.pid) - before) / units) * 1e6;
}

type Figures = { readonly with: number[]; readonly without: number[] };

async function measure(feature: Feature, target: Target, figures: Figures): Promise<void> {
  figures.without.push(await costOf(loadOf(feature, without.name), target));
  figures.with.push(await costOf(loadOf(feature, feature.name), target));
}

function lineOf(feature: Feature, figures: readonly Figures[]): string {
  const columns = figures.flatMap((figure) => {
    const ratios = figure.with
      .map((cost, round) => (figure.without[round] ?? Number.NaN) / cost)
      .filter((ratio) => !Number.isNaN(ratio));
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    const added = median(figure.with) - median(figure.without);
    return [
      Math.round(1e6 / median(figure.without)).toLocaleString("en-US"),
      Math.round(1e6 / median(figure.with)).toLocaleString("en-US"),
      `**${median(ratios).toFixed(2)}** (${spread})`,
      `${added.toFixed(0)} µs`,
    ];
  });
  return `| \`${feature.name}\`: ${feature.title} | ${columns.join(" | ")} |`;
}

async function main(): Promise<void> {
  const names = chosen?.split(",");
  const selected = features.filter(({ name }) => names?.includes(name) ?? true);
  const folder = temporaryFolder("features");
  const [backendPort = 0] = await freePorts(1);
  const backend = startPinned("1", compiled("backend"), [String(backendPort)]);
  const subjects: Subject[] = [];
  try {
    await waitForPort(backendPort);
    const manifests = join(folder, "manifests");
    mkdirSync(manifests);
    writeManifests(manifests, features, { backendPort, token });
    subjects.push(await startSubject("gateway", root, manifests));
    if (baseline) subjects.push(await startSubject("baseline", checkoutOf(baseline), manifests));
    const figures = new Map(
      selected.map((feature) => [feature, subjects.map((): Figures => ({ with: [], without: [] }))]),
    );
    for (const { target } of subjects) {
      await costOf(loadOf(without, without.name), target, warmUpSeconds);
      for (const feature of selected) await costOf(loadOf(feature, feature.name), target);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [feature, ofSubjects] of figures) {
        for (const [index, { target }] of subjects.entries()) {
          const own = ofSubjects[index];
          if (own !== undefined) await measure(feature, target, own);
        }
      }
    }
    const heads = subjects.flatMap(({ name }) => [`${name}, without`, "with", "with / without", "adds"]);
    process.stdout.write(`| Feature | ${heads.join(" | ")} |\n|${" --- |".repeat(heads.length + 1)}\n`);
    for (const [feature, ofSubjects] of figures) process.stdout.write(`${lineOf(feature, ofSubjects)}\n`);
  } finally {
    for (const subject of subjects) await subject.stop();
    await stop(backend);
    removeFolder(folder);
  }
}

await main();
