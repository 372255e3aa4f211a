/**
 * Measures the bytes that a worker allocates for each small HTTP/1.1 request: `make bench-allocation`. Unlike times,
 * they hardly depend on the other load of the machine. BASELINE=<git ref> compares another commit of this proxy,
 * FLAGS="--x y" sets flags of it, and SECONDS sets the duration of the load. Processors, routes, backend and load are
 * those of bench/compare. See docs/benchmarks.md.
 */
import { spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { wrk } from "../compare/loads/wrk.ts";
import { compiled } from "../compare/programs.ts";
import { createCertificate, createTokenIssuer, type Setup, usual } from "../compare/setup.ts";
import { gateway } from "../compare/subjects/gateway.ts";
import { checkoutOf } from "../../scripts/checkout.ts";
import {
  endTogether,
  freePorts,
  removeFolder,
  startPinned,
  stop,
  temporaryFolder,
  waitForPort,
} from "../processes.ts";
import { Collections } from "./collections.ts";

const root = resolve(import.meta.dirname, "../..");
const seconds = Number(process.env["SECONDS"] ?? 4);
const flags = process.env["FLAGS"]?.split(" ") ?? [];
const { BASELINE: baseline } = process.env;
/** Long enough for the whole request path to be compiled. */
const warmUpSeconds = 5;

async function measure(name: string, checkout: string, setup: Setup): Promise<void> {
  const [http = 0, https = 0] = await freePorts(2);
  const ports = { http, https, h2c: http };
  const command = gateway(name, checkout, flags).configure(setup, ports);
  if (command === undefined) return;
  const traced = ["--trace-gc", "--trace-gc-nvp", ...command.args];
  const child = endTogether(
    spawn("taskset", ["-c", "0", command.command, ...traced], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  try {
    const collections = new Collections();
    child.stdout.setEncoding("utf8").on("data", (text: string) => collections.read(text));
    await waitForPort(http);
    const target = { ports, pid: child.pid ?? 0, token: setup.token };
    const load = wrk();
    await load(target, warmUpSeconds);
    collections.forget();
    const { units, errors } = await load(target, seconds);
    const { bytes, count, pauseMs } = collections.ofBusiest();
    const perRequest = Math.round(bytes / units).toLocaleString("en-US");
    process.stdout.write(`| ${[name, units, errors, perRequest, count, pauseMs.toFixed(0)].join(" | ")} |\n`);
  } finally {
    await stop(child);
  }
}

const folder = temporaryFolder("allocation");
const [backendPort = 0] = await freePorts(1);
const backend = startPinned("1", compiled("backend"), [String(backendPort)]);
try {
  await waitForPort(backendPort);
  const tls = createCertificate(join(folder, "tls"));
  const common = { variant: usual, tls, backendPort, grpcBackendPort: 1, token: createTokenIssuer() };
  process.stdout.write("| | Requests | Errors | Bytes per request | Collections | Pauses, ms |\n");
  process.stdout.write("| --- | --- | --- | --- | --- | --- |\n");
  await measure("gateway", root, { ...common, folder: join(folder, "gateway") });
  if (baseline) {
    await measure("baseline", checkoutOf(baseline), { ...common, folder: join(folder, "baseline") });
  }
} finally {
  await stop(backend);
  removeFolder(folder);
}
