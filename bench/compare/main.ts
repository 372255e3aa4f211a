/**
 * Compares this proxy with nginx, HAProxy and Envoy: `make bench`. CASES=a,b and SUBJECTS=a,b select cases and
 * subjects; ROUNDS and SECONDS apply to each case. BASELINE=<git ref> adds another commit of this proxy, FLAGS="--x
 * y" adds this proxy with flags, and EXTRA="name=command" adds any program that listens on $PORT and forwards to
 * $BACKEND_PORT. Prints a table, and writes it with all samples to bench/results. See docs/benchmarks.md.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { isInstalled } from "../processes.ts";
import { checkoutOf } from "../../scripts/checkout.ts";
import { cases as allCases, type Case } from "./cases.ts";
import { circumstancesOf } from "./report/circumstances.ts";
import { markdownOf } from "./report/markdown.ts";
import { plotOf } from "./report/plot.ts";
import type { CaseResult, Results } from "./report/results.ts";
import { measureVariant } from "./run.ts";
import { envoy } from "./subjects/envoy.ts";
import { extra } from "./subjects/extra.ts";
import { gateway } from "./subjects/gateway.ts";
import { haproxy } from "./subjects/haproxy.ts";
import { nginx } from "./subjects/nginx.ts";
import type { Subject } from "./subjects/subject.ts";

const root = resolve(import.meta.dirname, "../..");
const rounds = Number(process.env["ROUNDS"] ?? 5);
const seconds = Number(process.env["SECONDS"] ?? 1);

const wanted = (name: string): readonly string[] | undefined => process.env[name]?.split(",").filter(Boolean);

function chosen<T extends { readonly name: string }>(all: readonly T[], variable: string): readonly T[] {
  const names = wanted(variable);
  if (names === undefined) return all;
  const unknown = names.filter((name) => !all.some((one) => one.name === name));
  if (unknown.length > 0) {
    const known = all.map(({ name }) => name).join(", ");
    throw new Error(`${variable}: unknown ${unknown.join(", ")}, expected some of ${known}`);
  }
  return all.filter(({ name }) => names.includes(name));
}

function subjects(): readonly Subject[] {
  const { BASELINE: baseline, FLAGS: flags, EXTRA: programs } = process.env;
  const all = [
    gateway("gateway", root),
    ...(flags ? [gateway("gateway-flags", root, flags.split(" "))] : []),
    ...(baseline ? [gateway("baseline", checkoutOf(baseline))] : []),
    ...(programs ?? "").split(";").filter(Boolean).map(extra),
    nginx,
    haproxy,
    envoy,
  ];
  return chosen(all, "SUBJECTS").filter((subject) => {
    const reason = subject.missing();
    if (reason !== undefined) process.stderr.write(`left out: ${subject.name}: ${reason}\n`);
    return reason === undefined;
  });
}

async function main(): Promise<number> {
  const tools = ["taskset", "wrk", "h2load", "openssl", "cc"].filter((command) => !isInstalled(command));
  if (tools.length > 0) {
    process.stderr.write(
      `bench needs ${tools.join(", ")} (Debian: util-linux, wrk, nghttp2-client, openssl, gcc)\n`,
    );
    return 2;
  }
  const circumstances = circumstancesOf(root);
  const measured: CaseResult[] = [];
  const selected = chosen(allCases, "CASES");
  for (const group of Map.groupBy(selected, ({ variant }) => JSON.stringify(variant)).values()) {
    measured.push(...(await measureVariant(group, subjects(), { rounds, seconds })));
  }
  const position = (name: string): number => selected.findIndex((one: Case) => one.name === name);
  const results: Results = {
    circumstances,
    rounds,
    seconds,
    cases: measured.toSorted((a, b) => position(a.name) - position(b.name)),
  };
  const folder = join(root, "bench/results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "latest.json"), `${JSON.stringify(results, undefined, 1)}\n`);
  writeFileSync(join(folder, "latest.md"), markdownOf(results));
  writeFileSync(join(folder, "latest.svg"), plotOf(results));
  process.stdout.write(`\n${markdownOf(results)}`);
  return 0;
}

process.exitCode = await main();
