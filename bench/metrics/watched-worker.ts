/** The program of a worker that reports how long its event loop was blocked and how much processor time it used. */
import { monitorEventLoopDelay } from "node:perf_hooks";

await import("../../proxy/src/worker/proxy-worker.ts");

/** Measurements since the previous read, in milliseconds. */
export type Look = { readonly longestStopMs: number; readonly processorMs: number };

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let usedBefore = 0;

const channel = new BroadcastChannel("looks");
channel.addEventListener("message", () => {
  const { user, system } = process.threadCpuUsage();
  const used = (user + system) / 1000;
  const look: Look = { longestStopMs: delay.max / 1e6, processorMs: used - usedBefore };
  usedBefore = used;
  delay.reset();
  answers.postMessage(look);
});
const answers = new BroadcastChannel("answers");
for (const one of [channel, answers]) (one as unknown as { unref(): void }).unref();
