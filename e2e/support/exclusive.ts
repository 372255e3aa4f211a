import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One for the machine, as the cluster is. */
const file = join(tmpdir(), "svc-gateway-e2e.lock");

/**
 * Runs the work unless another process does such work at the same time; then it fails and names that process. What a
 * process left that has ended without order is taken over.
 */
export async function exclusively<T>(work: () => Promise<T>): Promise<T> {
  const holder = readHolder();
  if (holder !== undefined && isAlive(holder))
    throw new Error(`another run is in progress: process ${holder} (wait for it, or stop it)`);
  rmSync(file, { force: true });
  // Of two processes that come this far at once, one cannot create the file.
  writeFileSync(file, String(process.pid), { flag: "wx" });
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function readHolder(): number | undefined {
  try {
    return Number(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
