import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { processorWaitMs } from "@svc-gateway/common/linux/processor-wait.ts";
import type { PortMapping } from "@svc-gateway/common/settings/flag-types.ts";
import type { LogDirectives } from "@svc-gateway/common/telemetry/log-level.ts";
import type { MetricExport } from "@svc-gateway/common/telemetry/metric-set.ts";
import { problem, type Result } from "@svc-gateway/common/values/result.ts";
import { AwakeTimer } from "../timing/awake-timer.ts";
import { AnswerLimit } from "./answer-limit.ts";
import type { LogWake } from "./log-ring.ts";
import type { ProcessorWait } from "./hang-watch.ts";
import type { FromWorker, ToWorker, WorkerCall, WorkerCalls, WorkerStart } from "./messages.ts";
import type { PackedMessages } from "./packed-update.ts";

/** The end of a thread: after its shutdown, by an error, by exceeding its heap, or terminated by the supervisor. */
export type ThreadEnd = {
  readonly reason: "finished" | "error" | "memory" | "terminated";
  readonly error: Error | undefined;
};

export type ThreadEvents = {
  onLog(when: LogWake): void;
  onSpans(when: LogWake): void;
  onPorts(ports: readonly number[], udp: readonly PortMapping[]): void;
  onCounts(metrics: MetricExport): void;
  /** Called once, after everything else. */
  onEnd(end: ThreadEnd): void;
};

/** The supervisor's handle of one thread. */
export type WorkerThread = {
  /** Resolves to true when the thread is ready, or to false if it ends before. */
  readonly ready: Promise<boolean>;
  /**
   * Resolves to undefined if the thread ends or the timeout expires before the answer. For calls of updates, the time
   * for which the thread waits for a processor does not count.
   */
  call<Call extends WorkerCall>(
    call: Call,
    argument: WorkerCalls[Call]["argument"],
    timeoutMs: number,
  ): Promise<WorkerCalls[Call]["answer"] | undefined>;
  hurry(): void;
  setLogLevel(directives: LogDirectives): void;
  /** Terminates the thread, even while it is busy. Resolves when it has ended. */
  terminate(): Promise<unknown>;
};

/** The program of a worker, which is next to this file in the sources and next to the bundle in a release. */
export const workerProgram = new URL(`./proxy-worker${extname(import.meta.url)}`, import.meta.url);

/** Calls whose limit does not include the wait for a processor. Metrics and a shutdown must end in time regardless. */
const ofUpdates: ReadonlySet<WorkerCall> = new Set(["read", "stage", "commit", "discard"]);

/** The name of the thread of a worker, which is also its name in the operating system. */
const threadName = (worker: number): string => `worker ${worker}`;

/** How long the thread of a worker has waited for a processor since its start. */
export const processorWaitOf: ProcessorWait = (worker) => processorWaitMs(threadName(worker));

/**
 * When a heap is full, Node grants it 16 MiB more so that the thread can end in order. One collection of the young
 * generation must not move more than that into the heap, or V8 ends the process.
 */
const maxYoungGenerationSizeMb = 24;

export function startThread(
  program: URL,
  start: WorkerStart,
  maxHeapMegabytes: number,
  events: ThreadEvents,
): WorkerThread {
  const worker = new Worker(program, {
    name: threadName(start.worker),
    workerData: start,
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMegabytes, maxYoungGenerationSizeMb },
  });
  const calls = new Map<number, (answer: unknown) => void>();
  let lastId = 0;
  let terminated = false;
  let ended = false;
  let failure: (Error & { readonly code?: string }) | undefined;
  const ready = Promise.withResolvers<boolean>();

  worker.on("message", (message: FromWorker) => {
    switch (message.type) {
      case "ready":
        return ready.resolve(true);
      case "answer":
        return calls.get(message.id)?.(message.answer);
      case "log":
        return events.onLog(message.when);
      case "spans":
        return events.onSpans(message.when);
      case "ports":
        return events.onPorts(message.ports, message.udp);
      case "counts":
        return events.onCounts(message.metrics);
    }
  });
  worker.on("error", (error: Error) => (failure = error));
  worker.on("exit", (code) => {
    ended = true;
    ready.resolve(false);
    for (const answer of calls.values()) answer(undefined);
    const outOfMemory = failure?.code === "ERR_WORKER_OUT_OF_MEMORY";
    const reason = outOfMemory ? "memory" : terminated ? "terminated" : code === 0 ? "finished" : "error";
    events.onEnd({ reason, error: failure });
  });

  const post = (message: ToWorker): void => worker.postMessage(message);
  return {
    ready: ready.promise,
    call(call, argument, timeoutMs) {
      if (ended) return Promise.resolve(undefined);
      const id = ++lastId;
      return new Promise((resolve) => {
        const finish = (answer: unknown): void => {
          timer.clear();
          calls.delete(id);
          resolve(answer as never);
        };
        const timer = ofUpdates.has(call)
          ? new AnswerLimit(
              () => finish(undefined),
              timeoutMs,
              () => processorWaitOf(start.worker),
            )
          : new AwakeTimer(() => finish(undefined), timeoutMs);
        calls.set(id, finish);
        post({ type: "call", id, call, argument });
      });
    },
    hurry: () => post({ type: "hurry" }),
    setLogLevel: (directives) => post({ type: "log-level", directives }),
    terminate() {
      terminated = true;
      return worker.terminate();
    },
  };
}

/**
 * Sends the messages of an update, of which at most `ahead` are unread at a time. With 1, a worker gets the next
 * message only after it has read the last one, and serves requests in between. Resolves to undefined if the worker does
 * not answer within the limit per message, which does not include the wait for a message to be complete. An abandoned
 * update is a problem.
 */
export async function handOver(
  thread: WorkerThread,
  messages: PackedMessages,
  timeoutMs: number,
  ahead = 1,
): Promise<Result<unknown> | undefined> {
  const unread: Promise<unknown>[] = [];
  for (let index = 0; ; index++) {
    const part = await messages.part(index);
    if (unread.length >= ahead && (await unread.shift()) === undefined) return undefined;
    if (part === undefined) break;
    unread.push(thread.call("read", part, timeoutMs));
  }
  if (messages.end === undefined) {
    await Promise.all(unread);
    return abandoned();
  }
  return thread.call("stage", messages.end, timeoutMs);
}

/** The outcome of an update whose last part does not arrive. */
export const abandoned = (): Result<never> => problem("the update ended before its last part");
