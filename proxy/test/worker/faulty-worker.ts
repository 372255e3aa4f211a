/** The program of a worker that fails when a test asks it to, over the channel `faults`. */
import { execFileSync } from "node:child_process";
import { parentPort, workerData } from "node:worker_threads";
import type { ToWorker, WorkerStart } from "../../src/worker/messages.ts";

export type Fault = {
  readonly worker: number;
  /**
   * `loop` never ends, `wait` waits indefinitely, and `block` cannot be ended while the file `until` exists, at most for
   * a minute. `report-read` is not a fault: it announces that the worker reads a part of an update.
   */
  readonly fault: "throw" | "exit-at-stage" | "exit-at-commit" | "report-read" | "loop" | "wait" | "block";
  readonly until?: string;
};

const { worker } = workerData as WorkerStart;
let exitAt: string | undefined;
let isReported = false;

const faults = new BroadcastChannel("faults");
faults.addEventListener("message", (event) => {
  const asked = (event as MessageEvent & { readonly data: Fault }).data;
  if (asked.worker !== worker) return;
  switch (asked.fault) {
    case "throw":
      throw new Error("a fault that the test asked for");
    case "loop":
      for (;;);
    case "wait":
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      break;
    case "block":
      execFileSync("sh", [
        "-c",
        'for i in $(seq 600); do test -e "$0" && sleep 0.1; done',
        asked.until ?? "",
      ]);
      break;
    case "report-read":
      isReported = true;
      faults.postMessage("armed");
      break;
    case "exit-at-stage":
    case "exit-at-commit":
      exitAt = asked.fault.slice("exit-at-".length);
      faults.postMessage("armed");
  }
});

// Before the worker's own, so that it runs first.
parentPort?.on("message", (message: ToWorker) => {
  if (message.type === "call" && message.call === exitAt) process.exit(1);
  if (isReported && message.type === "call" && message.call === "read") faults.postMessage("read");
});
await import("../../src/worker/proxy-worker.ts");
