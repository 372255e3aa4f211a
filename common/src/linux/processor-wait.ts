import { readdirSync } from "node:fs";
import { readOptional, type ReadFile } from "./read-file.ts";

const threadsFolder = "/proc/self/task";

/**
 * The time that a thread of this process has been ready to run without a processor since its start, in milliseconds.
 * `name` is that of the thread, of at most 15 characters. Undefined if there is no such thread, or the system does not
 * report the time (proc(5), schedstat).
 */
export function processorWaitMs(
  name: string,
  read: ReadFile = readOptional,
  list: () => readonly string[] = listThreads,
): number | undefined {
  const id = list().find((thread) => read(`${threadsFolder}/${thread}/comm`) === name);
  const waitedNs = Number(
    id === undefined ? Number.NaN : read(`${threadsFolder}/${id}/schedstat`)?.split(" ")[1],
  );
  return Number.isFinite(waitedNs) ? waitedNs / 1e6 : undefined;
}

function listThreads(): readonly string[] {
  try {
    return readdirSync(threadsFolder);
  } catch {
    return [];
  }
}
