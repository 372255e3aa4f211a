import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One lock for the machine, because there is one cluster. */
const file = join(tmpdir(), "svc-gateway-e2e.lock");

/**
 * Runs the work unless another process is doing such work; then it fails and names that process. The lock of a
 * process that ended without releasing it is taken over.
 */
export async function exclusively<T>(work: () => Promise<T>): Promise<T> {
  const holder = readHolder();
  if (holder !== undefined && isAlive(holder))
    throw new Error(`another run is in progress: process ${holder} (wait for it, or stop it)`);
  rmSync(file, { force: true });
  // If two processes get here simultaneously, one of them cannot create the file.
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
