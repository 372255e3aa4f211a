/** The program of a worker that reports how long its event loop was blocked, its processor time and its live data. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Measurements since the previous read. */
export type Look = {
  readonly longestStopMs: number;
  /** The most processor time between two turns of the event loop: a stop, without the time that other programs used. */
  readonly longestTurnMs: number;
  readonly processorMs: number;
  /** The heap and external memory after a full collection. */
  readonly liveBytes: number;
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let usedBefore = 0;
let longestTurnMs = 0;
let lastMs = 0;

const usedMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

setInterval(() => {
  const nowMs = usedMs();
  longestTurnMs = Math.max(longestTurnMs, nowMs - lastMs);
  lastMs = nowMs;
}, 1).unref();

const channel = new BroadcastChannel("looks");
const answers = new BroadcastChannel("answers");
channel.addEventListener("message", () => {
  const longestStopMs = delay.max / 1e6;
  const processorMs = usedMs() - usedBefore;
  const turnMs = longestTurnMs;
  collect();
  const { heapUsed, external } = process.memoryUsage();
  const liveBytes = heapUsed + external;
  answers.postMessage({ longestStopMs, longestTurnMs: turnMs, processorMs, liveBytes } satisfies Look);
  // The cost of this read must not count towards the next one.
  setTimeout(() => {
    usedBefore = usedMs();
    lastMs = usedBefore;
    longestTurnMs = 0;
    delay.reset();
  }, 20);
});
for (const one of [channel, answers]) (one as unknown as { unref(): void }).unref();

await import("../../proxy/src/worker/proxy-worker.ts");
