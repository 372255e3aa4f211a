/** The metrics of every process: its build, its memory and processor time, and the event loop of each thread. */
import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { counter, gauge, histogram } from "./metric-declaration.ts";
import { createMetricSet, type AnyMetricSet } from "./metric-set.ts";

/** The label of a thread: `main`, or the number of a worker; bounded by the number of workers. */
const thread = { thread: [] };

/** Metrics of each thread that runs JavaScript. */
export const threadMetrics = {
  loopActive: counter(
    "svc_event_loop_active_seconds_total",
    "Time that the event loop of a thread (main, or the number of a worker) was at work. Its share of active and idle time is the utilization.",
    thread,
  ),
  loopIdle: counter(
    "svc_event_loop_idle_seconds_total",
    "Time that the event loop of a thread waited for events.",
    thread,
  ),
  loopDelay: histogram(
    "svc_event_loop_delay_seconds",
    "How late a timer of a thread runs, measured ten times a second: what every request waits at least.",
    [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    thread,
  ),
  heapUsed: gauge("svc_heap_used_bytes", "Heap of a thread in use, garbage included.", thread),
  heapLimit: gauge("svc_heap_limit_bytes", "Limit of the heap of a thread, at which it is replaced.", thread),
} as const;

/** Metrics of a process, under the names that all Prometheus clients use. */
export const processMetrics = {
  buildInfo: gauge("svc_build_info", "1, with the release and the version of Node.js as labels.", {
    release: [],
    node: [],
  }),
  cpu: counter("process_cpu_seconds_total", "Processor time of the process, user and system."),
  residentMemory: gauge("process_resident_memory_bytes", "Memory of the process that is in RAM."),
  startTime: gauge("process_start_time_seconds", "Start of the process, in seconds since 1970."),
} as const;

/** Metrics with values that are read on demand. */
export type Measured = {
  readonly sets: readonly AnyMetricSet[];
  /** Updates the values; called before each export. */
  refresh(): void;
};

const delayIntervalMs = 100;

/**
 * Starts to measure the calling thread, until the thread ends. The timer for the delays costs some microseconds each
 * time, and does not keep the process running.
 */
export function measureThread(name: string): Measured {
  const set = createMetricSet(threadMetrics);
  const labels = { thread: name };
  const delay = set.loopDelay.with(labels);
  let dueMs = performance.now() + delayIntervalMs;
  setInterval(() => {
    const nowMs = performance.now();
    delay.observe(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + delayIntervalMs;
  }, delayIntervalMs).unref();
  return {
    sets: [set],
    refresh() {
      // Cumulative since the start of the thread, in milliseconds.
      const { active, idle } = performance.eventLoopUtilization();
      set.loopActive.with(labels).value = active / 1000;
      set.loopIdle.with(labels).value = idle / 1000;
      const heap = getHeapStatistics();
      set.heapUsed.with(labels).set(heap.used_heap_size);
      set.heapLimit.with(labels).set(heap.heap_size_limit);
    },
  };
}

/** Measures this process and its main thread. Called once, by the main thread. `release` is that of the program. */
export function measureProcess(release: string): Measured {
  const main = measureThread("main");
  const set = createMetricSet(processMetrics);
  set.buildInfo.with({ release, node: process.versions.node }).set(1);
  set.startTime.with({}).set(Math.round(performance.timeOrigin) / 1000);
  return {
    sets: [set, ...main.sets],
    refresh() {
      main.refresh();
      const { user, system } = process.cpuUsage();
      set.cpu.with({}).value = (user + system) / 1_000_000;
      set.residentMemory.with({}).set(process.memoryUsage.rss());
    },
  };
}
