import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { WorkerThread } from "./worker-thread.ts";

/** The place of one worker, which outlives the threads that run in it. */
export type Slot = {
  readonly worker: number;
  thread: WorkerThread | undefined;
  /** Whether it serves the snapshot that all workers serve. */
  serving: boolean;
  ports: readonly number[];
  /** The local ports of the UDP listeners among them. */
  udp: readonly PortMapping[];
  startedMs: number;
  /** The number of consecutive threads that ended soon after their start. */
  failures: number;
  /** Set if the thread is being ended because it hung, either while it served or while it started or compiled. */
  hung: "serving" | "busy" | undefined;
  timer: NodeJS.Timeout | undefined;
};

/** Creates the place of a worker, without a thread. */
export const createSlot = (worker: number): Slot => ({
  worker,
  thread: undefined,
  serving: false,
  ports: [],
  udp: [],
  startedMs: 0,
  failures: 0,
  hung: undefined,
  timer: undefined,
});

/** The ports that are bound in all of these workers. */
export function portsOfAll([first, ...rest]: readonly Slot[]): readonly number[] {
  return (first?.ports ?? []).filter((port) => rest.every((slot) => slot.ports.includes(port)));
}
