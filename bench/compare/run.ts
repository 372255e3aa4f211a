/**
 * Runs the cases of one variant: all subjects run simultaneously on one processor, but only one at a time is under
 * load.
 */
import type { ChildProcess } from "node:child_process";
import { chmodSync, existsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Case } from "./cases.ts";
import { loadCpu, type Target } from "./loads/load.ts";
import {
  cpuSeconds,
  freePorts,
  removeFolder,
  startPinned,
  stop,
  temporaryFolder,
  waitForPort,
} from "../processes.ts";
import { compiled } from "./programs.ts";
import type { CaseResult, Sample } from "./report/results.ts";
import { createCertificate, createTokenIssuer, type Setup } from "./setup.ts";
import type { Subject } from "./subjects/subject.ts";

type Pace = { readonly rounds: number; readonly seconds: number };
type Running = { readonly name: string; readonly target: Target };

/**
 * The processors of subjects: one for a single worker; for several, all except that of the loads if there are more
 * than two.
 */
function cpusFor(workers: number): string {
  if (workers === 1) return "0";
  const last = availableParallelism() - 1;
  return last > loadCpu ? `0,${loadCpu + 1}-${last}` : `0-${last}`;
}

export async function measureVariant(
  cases: readonly Case[],
  subjects: readonly Subject[],
  pace: Pace,
): Promise<readonly CaseResult[]> {
  const [first] = cases;
  if (first === undefined) return [];
  const { variant } = first;
  const shared = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const folder = temporaryFolder("bench", shared);
  // If root starts a server, its workers may run as another user.
  chmodSync(folder, 0o755);
  const started: ChildProcess[] = [];
  const start = (...args: Parameters<typeof startPinned>): number => {
    const child = startPinned(...args);
    started.push(child);
    if (child.pid === undefined) throw new Error(`${args[1]} did not start`);
    return child.pid;
  };
  try {
    const [backendPort = 0, grpcBackendPort = 0] = await freePorts(2);
    start(String(loadCpu), compiled("backend"), [String(backendPort)]);
    start(String(loadCpu), compiled("grpc-backend"), [String(grpcBackendPort)]);
    await Promise.all([waitForPort(backendPort), waitForPort(grpcBackendPort)]);
    const tls = createCertificate(join(folder, "tls"));
    const token = createTokenIssuer();
    const running: Running[] = [];
    for (const subject of subjects) {
      const [http = 0, https = 0, h2c = 0] = await freePorts(3);
      const own = join(folder, subject.name);
      const setup: Setup = { variant, folder: own, tls, backendPort, grpcBackendPort, token };
      // Most subjects accept both protocols on one port, and do not listen on the third.
      const ports = { http, https, h2c: subject.splitsProtocols === true ? h2c : http };
      const command = subject.configure(setup, ports);
      if (command === undefined) continue;
      const pid = start(cpusFor(variant.workers), command.command, command.args, command.env);
      await waitForPort(http).catch(() => {
        throw new Error(`${subject.name} does not listen; see its messages above`);
      });
      running.push({ name: subject.name, target: { ports, pid, token } });
    }
    const results: CaseResult[] = [];
    for (const one of cases) results.push(await measure(one, running, pace));
    return results;
  } finally {
    await Promise.all(started.map((child) => stop(child)));
    removeFolder(folder);
  }
}

/** A second with a rate higher than all before by this factor shows that code is still being compiled. */
const growthRatio = 1.1;
/** Seconds without growth after which a subject counts as steady; a single one may be slow for another reason. */
const steadySeconds = 2;
const maxWarmUpSeconds = 6;

/**
 * Puts a subject under load until its rate stops growing, within a time limit. Code is compiled while it runs, which
 * the first cases would measure otherwise.
 */
async function warmUp({ load }: Case, target: Target): Promise<void> {
  let best = 0;
  let steady = 0;
  for (let second = 0; second < maxWarmUpSeconds && steady < steadySeconds; second++) {
    const before = cpuSeconds(target.pid);
    const { units } = await load(target, 1);
    const rate = units / (cpuSeconds(target.pid) - before);
    steady = rate < best * growthRatio ? steady + 1 : 0;
    best = Math.max(best, rate);
  }
}

async function measure(
  one: Case,
  running: readonly Running[],
  { rounds, seconds }: Pace,
): Promise<CaseResult> {
  process.stderr.write(`${one.name}: ${one.title}\n`);
  const samples = new Map<string, Sample[]>(running.map(({ name }) => [name, []]));
  if (one.once !== true) for (const { target } of running) await warmUp(one, target);
  for (let round = 0; round < (one.once === true ? 1 : rounds); round++) {
    // Each round begins with a different subject, so that no subject always follows the same one.
    for (let step = 0; step < running.length; step++) {
      const subject = running[(step + round) % running.length];
      if (subject === undefined) continue;
      const { name, target } = subject;
      const before = cpuSeconds(target.pid);
      const outcome = await one.load(target, seconds);
      samples.get(name)?.push({ ...outcome, cpuSeconds: cpuSeconds(target.pid) - before });
    }
  }
  const { name, title, unit, values } = one;
  return {
    name,
    title,
    unit,
    ...(values !== undefined && { values }),
    subjects: Object.fromEntries(samples),
  };
}
